"""Warp specialization: split a loop into producer and consumer partitions.

    %acc = scf.for %k = … iter_args(%c = %zero) {        the loop that asks for it (`tt.warp_specialize`)
      %a = tt.descriptor_load %A[%m, %k]
      %a_buf = ttg.local_alloc %a
      …
      %d = ttng.warp_group_dot %a_buf, %b_buf, %c
      scf.yield %d
    } {tt.warp_specialize}

becomes two partitions that communicate through a *ring*, a circular buffer in shared memory, and two mbarriers for each
slot: `full` (TMA has written it) and `empty` (all warps have read it).

    default, the consumer (all warps of the kernel)      partition0, the producer (one more warp)
      scf.for %k … iter_args(%c, %slot, %phase) {          scf.for %k … iter_args(%slot, %phase) {
        wait full[%slot], %phase                             wait empty[%slot], %phase ^ 1
        %d = warp_group_dot ring_a[%slot], ring_b[%slot]     expect full[%slot], bytes of both
        wait for the dot of the previous iteration           copy A[%m, %k] -> ring_a[%slot], full[%slot]
        arrive empty[%slot - 1]                              copy B[%n, %k] -> ring_b[%slot], full[%slot]
        next %slot, %phase                                   next %slot, %phase
      }                                                    }

Each partition counts slots independently: both execute the same loops and branches, so the counts agree for any trip
count. A fresh mbarrier is in phase 0, so that a wait for parity 1 passes: the ring starts empty. Since the producer
copies *all* loops around the loads, it also prefetches across tiles of a persistent kernel, while the consumer stores
the results of the previous tile.

**Why no second consumer.** `wgmma` is executed by four warps, for 64 rows. A kernel of eight warps already has two warp
groups that compute half of the rows each; nothing in the loop synchronizes them, as long as every warp arrives at
`empty` by itself. They drift apart freely, so that one computes MMAs while the other post-processes. Triton, which
specializes kernels of four warps only, gets the same by splitting every tensor along M into two partitions.

The parts, in the order of work:

| module | question |
|---|---|
| `partition` | which operations take part, which loads the producer issues, and why a loop is not specialized |
| `producer_slice` | what the producer computes redundantly: addresses, and the control flow around loads |
| `circular_buffers` | which loads share a ring, its depth, and its operations |
| `occupancy` | how many CTAs share an SM, and so the registers per thread and slots per ring |
| `pingpong` | which loops overlap dots and softmax, within a warp group and between two |
| `consumer_waits` | which WGMMAs stay in flight, where they are waited for, and so when a buffer is free |
| `emit`, `producer`, `consumer` | the two partitions |
"""
