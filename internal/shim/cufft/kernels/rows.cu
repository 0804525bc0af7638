// Rows of numbers: factors, mirrored halves, copies from one type or layout to another.
#include "rows.h"

KERNEL rows_f32(Row a) { rows<float>(a); }
KERNEL rows_f64(Row a) { rows<double>(a); }
KERNEL copy_f32(Row a) { copy<float, float>(a); }
KERNEL copy_f64(Row a) { copy<double, double>(a); }
KERNEL widen_f16(Row a) { copy<_Float16, float>(a); }
KERNEL narrow_f16(Row a) { copy<float, _Float16>(a); }
KERNEL widen_bf16(Row a) { copy<bf16, float>(a); }
KERNEL narrow_bf16(Row a) { copy<float, bf16>(a); }
