"""What each engine's profile block means, and how a proven copy of a launch is made."""

from mindspeed_mm_train_profiler.profile_config.build import build
from mindspeed_mm_train_profiler.profile_config.proposal import Proposal, prepare
from mindspeed_mm_train_profiler.profile_config.store import clean_leftovers, discard, list_builds, load_build

__all__ = ["Proposal", "build", "clean_leftovers", "discard", "list_builds", "load_build", "prepare"]
