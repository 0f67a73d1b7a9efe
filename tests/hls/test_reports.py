"""Reports of Vitis HLS, in the form that public projects have them; none is of a project of samhw."""

import json
from pathlib import Path

import pytest

from samhw.app.cli import main
from samhw.app.report.hls_reports import ReportedLoop, read_reports
from samhw.errors import InputError

CSYNTH = """<profile>
    <UserAssignments>
        <unit>ns</unit>
        <Part>xcu55c-fsvh2892-2L-e</Part>
        <TopModelName>spmv_kernel</TopModelName>
        <TargetClockPeriod>4.00</TargetClockPeriod>
    </UserAssignments>
    <PerformanceEstimates>
        <PipelineType>dataflow</PipelineType>
        <SummaryOfTimingAnalysis><EstimatedClockPeriod>2.920</EstimatedClockPeriod></SummaryOfTimingAnalysis>
        <SummaryOfOverallLatency><Worst-caseLatency>undef</Worst-caseLatency></SummaryOfOverallLatency>
    </PerformanceEstimates>
    <AreaEstimates>
        <Resources><BRAM_18K>14</BRAM_18K><DSP>3</DSP><FF>19995</FF><LUT>13040</LUT><URAM>0</URAM></Resources>
        <AvailableResources><BRAM_18K>4032</BRAM_18K><DSP>9024</DSP><FF>2607360</FF><LUT>1304000</LUT>
            <URAM>960</URAM></AvailableResources>
    </AreaEstimates>
    <ModuleInformation>
        <Module>
            <Name>array_r</Name>
            <PerformanceEstimates>
                <SummaryOfTimingAnalysis><EstimatedClockPeriod>2.5</EstimatedClockPeriod></SummaryOfTimingAnalysis>
                <SummaryOfOverallLatency><Worst-caseLatency>130</Worst-caseLatency></SummaryOfOverallLatency>
                <SummaryOfLoopLatency>
                    <VITIS_LOOP_15_1>
                        <Name>VITIS_LOOP_15_1</Name>
                        <TripCount><range><min>1</min><max>128</max></range></TripCount>
                        <Latency>130</Latency>
                        <PipelineII>2</PipelineII>
                        <PipelineDepth>19</PipelineDepth>
                    </VITIS_LOOP_15_1>
                </SummaryOfLoopLatency>
            </PerformanceEstimates>
            <AreaEstimates><Resources><DSP>0</DSP><FF>90</FF><LUT>214</LUT></Resources></AreaEstimates>
        </Module>
    </ModuleInformation>
</profile>
"""

COSIM = """
+----------+----------+-----------------------------------------------+
|          |          |             Latency(Clock Cycles)             |
+   RTL    +  Status  +-----------------------------------------------+
|          |          |      min      |      avg      |      max      |
+----------+----------+-----------------------------------------------+
|      VHDL|        NA|             NA|             NA|             NA|
|   Verilog|      Pass|            412|            412|            413|
+----------+----------+-----------------------------------------------+
"""

EXPORT = """<profile>
    <TimingReport><TargetClockPeriod>4.000</TargetClockPeriod><AchievedClockPeriod>3.1</AchievedClockPeriod></TimingReport>
    <AreaReport><Resources><BRAM>7</BRAM><DSP>3</DSP><FF>9000</FF><LUT>6520</LUT></Resources></AreaReport>
</profile>
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    reports = tmp_path / "spmv_kernel_hls" / "hls"
    for path, text in (
        ("syn/report/csynth.xml", CSYNTH),
        ("sim/report/spmv_kernel_cosim.rpt", COSIM),
        ("impl/report/verilog/spmv_kernel_export.xml", EXPORT),
    ):
        (reports / path).parent.mkdir(parents=True)
        (reports / path).write_text(text)
    (tmp_path / "expected.json").write_text(json.dumps({"interval": 1, "stages": 16, "cycles": 398}))
    return tmp_path


def test_all_reports(project: Path) -> None:
    report = read_reports(project)
    assert (report.clock, report.top.name, report.top.latency) == (4.0, "spmv_kernel", None)
    (module,) = report.modules
    assert (module.name, module.latency, module.period) == ("array_r", 130, 2.5)
    assert module.loops == (ReportedLoop("VITIS_LOOP_15_1", 2, 19),)
    assert module.area == {"LUT": 214, "FF": 90, "DSP": 0}
    assert report.cosim == ("Pass", (412, 412, 413))
    assert report.implemented == {"LUT": 6520, "FF": 9000, "DSP": 3, "BRAM_18K": 7, "period": 3.1}


def test_folders_that_cannot_be_read_are_left_out() -> None:
    """Such as those of processes that end meanwhile."""
    with pytest.raises(InputError, match=r"/proc has no csynth\.xml"):
        read_reports(Path("/proc"))


def test_command(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("sys.argv", ["samhw", "hls-report", str(project)])
    with pytest.raises(SystemExit) as end:
        main()
    text = capsys.readouterr().out
    assert end.value.code in (0, None)
    assert "19 (more than 16)" in text
    assert "cosimulated Pass, 413 cycles; the simulator has 398" in text
    assert "area        13,040 LUT (1.0%)" in text
    assert "built       6,520 LUT (0.5%)" in text


def test_refusals(project: Path) -> None:
    (path,) = project.rglob("csynth.xml")
    path.write_text("<profile>")
    with pytest.raises(InputError, match="is no report of Vitis HLS"):
        read_reports(project)
    path.unlink()
    with pytest.raises(InputError, match=r"has no csynth\.xml; name the folder of one project"):
        read_reports(project)
