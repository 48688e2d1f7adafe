#include "ops/promotion.h"
namespace tpu::ops { Table softmax_table() { return {}; } }
