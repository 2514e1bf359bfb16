"""PTX of ours: the kernel of the probe, and one that tells how fast the clock runs."""

PROBE = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry probe(.param .u64 out)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, 1;
  add.s32 %r2, %r1, 2;
  st.global.u32 [%rd1], %r2;
  ret;
}
"""

CLOCK = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry clock(.param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b64 %rd<10>;
  ld.param.u64 %rd1, [out];
  mov.u64 %rd2, %globaltimer;
  mov.u64 %rd3, %clock64;
again:
  mov.u64 %rd4, %clock64;
  sub.u64 %rd5, %rd4, %rd3;
  setp.lt.u64 %p1, %rd5, 200000;
  @%p1 bra again;
  mov.u64 %rd6, %globaltimer;
  sub.u64 %rd7, %rd6, %rd2;
  st.global.u64 [%rd1], %rd5;
  st.global.u64 [%rd1+8], %rd7;
  ret;
}
"""
