#include "ops/promotion.h"
namespace tpu::ops { Table upsample_table() { return {}; } }
