// Autocast: which ops torch.autocast("tpu") runs in a lower precision, which in float32, which in their widest
// argument's type. PyTorch's own lists, shared by all devices, and from the CPU's what has no kernel for half types.
#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <torch/library.h>

namespace at::autocast {  // the macros name their parts without it

namespace {

#define TPU_LOWER_PRECISION(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define TPU_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define TPU_FP32_SET_OPT_DTYPE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define TPU_PROMOTE(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
  AT_FORALL_LOWER_PRECISION_FP(TPU_LOWER_PRECISION)
  AT_FORALL_FP32(TPU_FP32)
  AT_FORALL_FP32_SET_OPT_DTYPE(TPU_FP32_SET_OPT_DTYPE)
  AT_FORALL_DIFFERENT_REDISPATCH_SIGNATURE(KERNEL_DIFFERENT_REDISPATCH_SIGNATURE_PRIVATEUSEONE)
  AT_FORALL_PROMOTE(TPU_PROMOTE)

  // CUDA refuses it, since its default is float16, whose range is too small; here it is bfloat16, as on the CPU.
  TPU_FP32(binary_cross_entropy)

  TPU_FP32(view_as_complex)
  TPU_FP32(polar)
  TPU_FP32(quantile)
  TPU_FP32(quantile, scalar)
  TPU_FP32(nanquantile)
  TPU_FP32(nanquantile, scalar)

  TPU_FP32(stft)
  TPU_FP32(stft, center)
  TPU_FP32(fft_fft)
  TPU_FP32(fft_ifft)
  TPU_FP32(fft_fft2)
  TPU_FP32(fft_ifft2)
  TPU_FP32(fft_fftn)
  TPU_FP32(fft_ifftn)
  TPU_FP32(fft_rfft)
  TPU_FP32(fft_irfft)
  TPU_FP32(fft_rfft2)
  TPU_FP32(fft_irfft2)
  TPU_FP32(fft_rfftn)
  TPU_FP32(fft_irfftn)
  TPU_FP32(fft_hfft)
  TPU_FP32(fft_ihfft)

  TPU_FP32(cholesky)
  TPU_FP32(cholesky_inverse)
  TPU_FP32(cholesky_solve)
  TPU_FP32(geqrf)
  TPU_FP32(inverse)
  TPU_FP32(_lu_with_info)
  TPU_FP32(lu_solve)
  TPU_FP32(orgqr)
  TPU_FP32(ormqr)
  TPU_FP32(pinverse)
  TPU_FP32(qr)
  TPU_FP32(svd)
  TPU_FP32(triangular_solve)
  TPU_FP32(linalg_cholesky)
  TPU_FP32(linalg_cholesky_ex)
  TPU_FP32(linalg_cond)
  TPU_FP32(linalg_cond, p_str)
  TPU_FP32(linalg_eig)
  TPU_FP32(linalg_eigh)
  TPU_FP32(linalg_eigvals)
  TPU_FP32(linalg_eigvalsh)
  TPU_FP32(linalg_householder_product)
  TPU_FP32(linalg_inv)
  TPU_FP32(linalg_inv_ex)
  TPU_FP32(linalg_lstsq)
  TPU_FP32(linalg_matrix_rank)
  TPU_FP32(linalg_matrix_rank, tol_tensor)
  TPU_FP32(linalg_matrix_rank, atol_rtol_float)
  TPU_FP32(linalg_matrix_rank, atol_rtol_tensor)
  TPU_FP32(linalg_qr)
  TPU_FP32(linalg_solve)
  TPU_FP32(linalg_svd)
  TPU_FP32(linalg_svdvals)
  TPU_FP32(linalg_tensorinv)
  TPU_FP32(linalg_tensorsolve)
}

}  // namespace

}  // namespace at::autocast
