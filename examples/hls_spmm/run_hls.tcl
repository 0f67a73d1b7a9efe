# vitis-run --mode hls --tcl run_hls.tcl, or with releases before 2024.2 vitis_hls -f run_hls.tcl
#
# Variables of the shell choose the steps: HLS_CSIM=1 HLS_CSYNTH=1 HLS_COSIM=0 HLS_EXPORT=1.
array set run {csim 1 csynth 1 cosim 0 export 1}
foreach step [array names run] {
    set variable HLS_[string toupper $step]
    if {[info exists env($variable)]} {
        set run($step) $env($variable)
    }
}

open_project -reset spmm_kernel_prj
set_top spmm_kernel
add_files src/spmm_kernel.cpp -cflags "-Isrc -std=c++14"
add_files -tb tb/spmm_kernel_test.cpp -cflags "-Isrc -std=c++14"
add_files -tb tb_data
open_solution -reset -flow_target vitis solution1
set_part xcu55c-fsvh2892-2L-e
create_clock -period 4 -name default

if {$run(csim)} {
    csim_design
}
if {$run(csynth) || $run(cosim) || $run(export)} {
    csynth_design
}
if {$run(cosim)} {
    cosim_design
}
if {$run(export)} {
    export_design -format xo -output spmm_kernel.xo
}
exit
