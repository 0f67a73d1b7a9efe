# vitis_hls -f run_hls.tcl [-tclargs csim=1 csynth=1 cosim=0 export=1]
array set run {csim 1 csynth 1 cosim 0 export 1}
foreach argument $argv {
    regexp {^(csim|csynth|cosim|export)=([01])$} $argument _ step on
    if {[info exists step]} {
        set run($step) $on
        unset step
    }
}

open_project -reset spmm_kernel_prj
set_top spmm_kernel
add_files src/spmm_kernel.cpp -cflags "-Isrc -std=c++14"
add_files -tb tb/spmm_kernel_test.cpp -cflags "-Isrc -std=c++14"
add_files -tb tb_data
open_solution -reset -flow_target vitis solution1
set_part xcvu9p-flgb2104-2-i
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
