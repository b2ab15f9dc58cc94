"""Warps that load and warps that compute: what `nvgpu-warp-specialization` is made of.

    %acc = scf.for %k = … iter_args(%c = %zero) {        the loop that asks for it (`tt.warp_specialize`)
      %a = tt.descriptor_load %A[%m, %k]
      %a_buf = ttg.local_alloc %a
      …
      %d = ttng.warp_group_dot %a_buf, %b_buf, %c
      scf.yield %d
    } {tt.warp_specialize}

becomes two programs that talk through a *ring*: a few buffers in shared memory, used in turn, and two mbarriers for
each, `full` (the copy engine has filled it) and `empty` (nobody reads it any more).

    default, the consumer (all warps of the kernel)      partition0, the producer (one warp more)
      scf.for %k … iter_args(%c, %slot, %phase) {          scf.for %k … iter_args(%slot, %phase) {
        wait full[%slot], %phase                             wait empty[%slot], %phase ^ 1
        %d = warp_group_dot ring_a[%slot], ring_b[%slot]     expect full[%slot], bytes of both
        wait for the product of the iteration before         copy A[%m, %k] -> ring_a[%slot], full[%slot]
        arrive empty[%slot - 1]                              copy B[%n, %k] -> ring_b[%slot], full[%slot]
        next %slot, %phase                                   next %slot, %phase
      }                                                    }

Both count slots by themselves: each runs the same loops and branches, so that the counts agree whatever the trip
counts are. A fresh mbarrier is in phase 0, so that a wait for parity 1 passes: the ring starts empty. Since the
producer's loops are copies of *all* loops around the loads, it runs ahead across tiles of a persistent kernel too,
while the consumer stores the results of the tile before.

**Why no second consumer.** `wgmma` takes four warps and 64 rows. A kernel of eight warps already has two warp groups
that multiply half of the rows each; nothing in the loop makes one wait for the other, as long as every warp arrives at
`empty` by itself. They drift apart freely, so that one multiplies while the other computes. Triton, which specializes
kernels of four warps only, gets the same by splitting every tensor along M into two partitions.

The parts, in the order of work:

| module | question |
|---|---|
| `partition` | which operations take part, which loads the producer does, and why not where it cannot |
| `producer_slice` | what the producer needs to compute by itself: addresses, and the control flow around loads |
| `circular_buffers` | which loads share a ring, how deep it is, and its operations |
| `occupancy` | how many blocks share a multiprocessor, and so how many registers and slots there are |
| `overlap` | which loops run half of an iteration beside the next one |
| `consumer_waits` | which WGMMAs stay in flight, when they are waited for, and so when a buffer is free |
| `emit`, `producer`, `consumer` | the two programs |
"""
