"""Instructions are counted along the usual pass of the loop that stores."""

import pytest

pytest.importorskip("llvmlite", reason="launches are texts that LLVM takes")

from gpu.executed import blocks_of, largest_launch, main, usual_pass

LISTING = """
	.text.kernel:
        /*0000*/                   S2R R0, SR_TID.X ;
        /*0010*/                   BSSY B0, `(.L_x_3) ;
.L_x_0:
        /*0020*/                   LDG.E R1, desc[UR4][R2.64] ;
        /*0030*/                   FSETP.GE.AND P0, PT, |R1|, 65536, PT ;
        /*0040*/              @!P0 BRA `(.L_x_1) ;
        /*0050*/                   MOV R4, 0x60 ;
        /*0060*/                   CALL.REL.NOINC `(slow) ;
        /*0070*/                   BRA `(.L_x_2) ;
.L_x_1:
        /*0080*/                   FMUL R1, R1, R1 ;
        /*0090*/                   FMUL R1, R1, R1 ;
        /*00a0*/                   FMUL R1, R1, R1 ;
        /*00b0*/                   NOP ;
.L_x_2:
        /*00c0*/                   STG.E desc[UR4][R2.64], R1 ;
        /*00d0*/                   IADD3 R0, R0, 0x1, RZ ;
        /*00e0*/               @P1 BRA `(.L_x_0) ;
.L_x_3:
        /*00f0*/                   EXIT ;
"""


def test_the_usual_pass_calls_nothing_and_has_no_padding():
    executed = [code.split()[0] for code in usual_pass(blocks_of(LISTING))]
    loaded = ["LDG.E", "FSETP.GE.AND", "BRA", "FMUL", "FMUL", "FMUL"]
    assert executed == ["STG.E", "IADD3", "BRA", *loaded]


def test_a_shorter_way_around_is_the_usual_one():
    around = LISTING.replace("CALL.REL.NOINC `(slow)", "MOV R5, R5")
    assert len(usual_pass(blocks_of(LISTING))) == len(usual_pass(blocks_of(around))) == 9
    shorter = around.replace("        /*0050*/                   MOV R4, 0x60 ;\n", "")
    assert [code.split()[0] for code in usual_pass(blocks_of(shorter))][6:] == ["MOV", "BRA"]


def test_code_without_a_loop_is_refused():
    straight = LISTING.replace("@P1 BRA `(.L_x_0)", "NOP")
    with pytest.raises(ValueError, match="no loop"):
        usual_pass(blocks_of(straight))


def test_the_launch_is_that_of_all_elements():
    launch = largest_launch("sum(sin(x))", ["x"])
    assert launch.blocks > 1
    assert "@gw_f_cos(" in launch.text


def test_a_missing_tool_is_named(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr("sys.argv", ["gpu.executed", "--ptxas", "/usr/local/cuda/bin/ptxas"])
    monkeypatch.setattr("gpu.executed.find_spec", lambda _: None)
    with pytest.raises(SystemExit):
        main()
    assert "nvdisasm, of the CUDA toolkit, is not installed" in capsys.readouterr().err
