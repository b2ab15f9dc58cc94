"""Cut cross entropy (github.com/apple/ml-cross-entropy): the loss of a vocabulary whose logits are never stored."""

import os

os.environ["TORCHDYNAMO_DISABLE"] = "1"

from workloads import both_ways, path, rand, whole, workload

path()
from cut_cross_entropy import linear_cross_entropy  # noqa: E402


@workload
def linear_loss():
    targets = whole(32000, 4096)
    return both_ways(
        lambda e, c: linear_cross_entropy(e, c, targets, filter_eps=None),
        rand(4096, 2048),
        rand(32000, 2048, scale=0.02),
    )
