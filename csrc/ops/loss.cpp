#include "ops/promotion.h"
namespace tpu::ops { Table loss_table() { return {}; } }
