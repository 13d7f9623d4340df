#include <sstream>

#include "tests/report/sample.h"
#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("an estimate is a table with one row per term and the verdict below") {
  const SourceFile file("a.yaml", "x");
  std::ostringstream out;
  write_estimate_text({sample_deployment(file)}, out);
  CHECK(out.str() ==
        "a.yaml:1: org/name on 2 x L4, vllm 0.19.0, tensor parallel 2\n"
        "  GiB per GPU                     low       best       high\n"
        "  budget                                   20.00             0.9 x 22.00 GiB\n"
        "  weights                        8.00       8.00       8.00  safetensors index\n"
        "  (cuda_graphs)                  0.50       1.00       1.50  measured\n"
        "  KV cache                       3.00       4.00       5.00\n"
        "  blocks                       65,536     65,536     65,536\n"
        "  tokens                    1,048,576  1,048,576  1,048,576\n"
        "  requests of 8,192 tokens        128        128        128\n"
        "  longest context           1,048,576  1,048,576  1,048,576\n"
        "  verdict: starts: 4.00 GiB are left\n");
}

TEST_CASE("what could not be estimated says what is missing and how to give it") {
  Deployment d;
  d.model = "org/name";
  d.version = {0, 33, 0};
  d.missing.push_back({"gpu", "the command line names no GPU", "pass --gpu NAME"});
  std::ostringstream out;
  write_estimate_text({d}, out);
  CHECK(out.str() ==
        "org/name, vllm 0.33.0 (assumed), tensor parallel 1\n"
        "  not estimated: the command line names no GPU (pass --gpu NAME)\n");
}
