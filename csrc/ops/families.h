// One line per family: its name and the function that gives its table, defined in the file of that name.
#pragma once

#include <vector>

#include "ops/row.h"

namespace tpu::ops {

Table copy_table();             // copies, casts, fills
Table activation_table();       // nonlinearities and their gradients
Table binary_table();           // arithmetic, comparisons, selection
Table special_table();          // Bessel, gamma, error functions, orthogonal polynomials
Table unary_table();            // functions of one operand
Table attention_table();        // scaled dot-product attention
Table convolution_table();      // convolutions, unfold and fold
Table fft_table();              // Fourier transforms
Table matmul_table();           // products of matrices and vectors, distances
Table linalg_table();           // Cholesky factors, triangular systems, small products
Table linalg_lu_table();        // LU factors, systems, inverses, determinants
Table linalg_qr_table();        // QR factors, least squares
Table linalg_eigh_table();      // eigenvalues of Hermitian matrices, matrix exponential
Table norm_table();             // batch, layer, group, RMS and weight norm
Table pool_table();             // max and mean of sliding windows
Table fractional_pool_table();  // max of windows at random steps
Table rnn_table();              // LSTM and GRU cells
Table nonzero_table();          // positions of what is not zero, and assertions
Table indexing_table();         // elements read and written where index tensors say
Table embedding_table();        // rows of a table, alone and in bags
Table shape_table();            // joining, ordering, padding, triangles, diagonals
Table factory_table();          // ranges, identities, triangle indices
Table random_table();           // random numbers and dropout
Table distribution_table();     // gamma, Dirichlet, Poisson and binomial numbers
Table optimizer_table();        // fused optimizer steps, gradient scaling
Table upsample_table();         // interpolation and grid sampling
Table reduction_table();        // sums, extremes, truth, moments and norms over dimensions
Table scan_table();             // running sums, products and extremes
Table sort_table();             // order, ranks, medians, membership, binary search
Table softmax_table();          // softmax and log-softmax with their gradients
Table loss_table();             // losses of a prediction and its target
Table ctc_table();              // connectionist temporal classification

struct Family {
  const char* name;
  Table (*table)();
  bool contracts = false;  // has dots or convolutions, so that torch's matmul precision matters
  bool pointwise = false;  // all rows are, see Row::is_pointwise
};

inline const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"copy", copy_table},
      {"activation", activation_table, false, true},
      {"binary", binary_table, false, true},
      {"special", special_table, false, true},
      {"unary", unary_table, false, true},
      {"attention", attention_table, true},
      {"convolution", convolution_table, true},
      {"fft", fft_table},
      {"matmul", matmul_table, true},
      {"linalg", linalg_table, true},
      {"linalg_lu", linalg_lu_table},
      {"linalg_qr", linalg_qr_table},
      {"linalg_eigh", linalg_eigh_table},
      {"norm", norm_table},
      {"pool", pool_table},
      {"fractional_pool", fractional_pool_table},
      {"rnn", rnn_table, true},
      {"nonzero", nonzero_table},
      {"indexing", indexing_table},
      {"embedding", embedding_table},
      {"shape", shape_table},
      {"factory", factory_table},
      {"random", random_table},
      {"distribution", distribution_table},
      {"optimizer", optimizer_table},
      {"upsample", upsample_table},
      {"reduction", reduction_table},
      {"scan", scan_table},
      {"sort", sort_table},
      {"softmax", softmax_table},
      {"loss", loss_table},
      {"ctc", ctc_table},
  };
  return all;
}

}  // namespace tpu::ops
