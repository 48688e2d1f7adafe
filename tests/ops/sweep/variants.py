"""The table of variants: what is done with an entry of a database, in which dtypes, and how it is compared."""

import functools
from collections.abc import Callable
from dataclasses import dataclass

import expected
import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.common_modules import module_db
from torch.testing._internal.common_optimizers import optim_db

from . import errors, forms, gradients, modes, modules, optimizers, sizes
from .comparison import check_sample
from .samples import samples_of

DTYPES = tuple(
    getattr(torch, name) for name in "float32 bfloat16 float16 float64 int64 int32 uint8 bool complex64".split()
)
REAL = DTYPES[:4]
ALL = 10**9


def full_name(entry):
    """The name of an entry of any database."""
    return getattr(entry, "full_name", None) or getattr(entry, "name", None) or entry.optim_cls.__name__


DATABASES = {
    name: {full_name(entry): entry for entry in entries}
    for name, entries in (("op_db", op_db), ("module_db", module_db), ("optim_db", optim_db))
}


def plain_samples(op, dtype, count):
    return samples_of(op, dtype, False, count)


def gradient_samples(op, dtype, count):
    return samples_of(op, dtype, True, count)


def always(entry, dtype):
    return True


def has_second_gradient(op, dtype):
    return op.supports_gradgrad and gradients.has_gradient(op, dtype)


@dataclass(frozen=True)
class Variant:
    name: str
    check: Callable  # of an entry and one of its samples
    samples: Callable = plain_samples  # of an entry, a dtype and how many
    applies: Callable = always  # to an entry and a dtype
    count: int = 12  # samples in the setting that is looked at most closely
    dtypes: tuple[torch.dtype, ...] = DTYPES
    database: str = "op_db"

    def dtypes_of(self, entry):
        """Those in which there is something to test."""
        return [dtype for dtype in self.dtypes if self._supports(entry, dtype) and self.applies(entry, dtype)]

    def _supports(self, entry, dtype):
        if self.database == "op_db":
            return self.samples is errors.error_inputs or dtype in entry.supported_dtypes("cpu")
        return self.database == "optim_db" or dtype in entry.supported_dtypes("cpu")


F32 = DTYPES[:1]
VARIANTS = {
    variant.name: variant
    for variant in (
        Variant("forward", check_sample, count=ALL),
        Variant("gradient", gradients.check_gradient, gradient_samples, gradients.has_gradient),
        Variant(
            "second gradient",
            gradients.check_second_gradient,
            gradient_samples,
            has_second_gradient,
            count=2,
            dtypes=F32,
        ),
        Variant("out", forms.check_out, applies=forms.has_out),
        Variant("in-place", forms.check_in_place, forms.in_place_samples, forms.has_in_place),
        Variant("gaps", sizes.check_gaps),
        Variant("no elements", sizes.check_no_elements),
        Variant("no dimensions", sizes.check_no_dimensions),
        Variant("errors", errors.check_error, errors.error_inputs, errors.has_error_inputs, ALL, F32),
        Variant("modes", modes.check_modes, applies=modes.is_random, count=2),
        Variant("training", modules.check_module, modules.training_samples, dtypes=REAL, database="module_db"),
        Variant("evaluation", modules.check_module, modules.evaluation_samples, dtypes=REAL, database="module_db"),
        Variant(
            "steps",
            optimizers.check_optimizer,
            optimizers.optimizer_samples,
            optimizers.is_dense,
            count=ALL,
            dtypes=(torch.float32, torch.float64),
            database="optim_db",
        ),
    )
}


@functools.cache
def reason_to_skip(database, name):
    """Why an entry is not tested at all, or None."""
    if database == "optim_db":
        return None if optimizers.is_dense(DATABASES[database][name], None) else "takes sparse gradients only"
    if database != "op_db":
        return None
    return next((reason for reason, names in expected.LEFT_OUT.items() if name in names), None)
