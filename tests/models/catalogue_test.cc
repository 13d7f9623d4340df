#include "lint/models/catalogue.h"

#include <algorithm>
#include <cctype>

#include "lint/memory/weights.h"
#include "tests/models/shapes.h"
#include "tests/support/catch.h"

using namespace kvbudget;

namespace {

// Billions of parameters that a name states ("-7B", "-1.5b-", "-1_8B"), 0 when it states none or a
// mixture of experts.
double stated_billions(const std::string& id) {
  for (const char* mixture : {"8x", "-16E", "-128E"}) {
    if (id.find(mixture) != std::string::npos) return 0;
  }
  for (size_t i = 0; i + 1 < id.size(); ++i) {
    if (id[i] != '-') continue;
    const size_t end = id.find_first_not_of("0123456789._", i + 1);
    if (end == std::string::npos || end == i + 1) continue;
    const bool last =
        end + 1 == id.size() || std::isalnum(static_cast<unsigned char>(id[end + 1])) == 0;
    const bool billions = id[end] == 'b' || id[end] == 'B';
    const bool millions = id[end] == 'm' || id[end] == 'M';
    if (last && (billions || millions)) {
      std::string number = id.substr(i + 1, end - i - 1);
      std::replace(number.begin(), number.end(), '_', '.');
      return std::stod(number) / (millions ? 1000 : 1);
    }
  }
  return 0;
}

}  // namespace

TEST_CASE("every model of the built-in catalogue has a shape of the size that its name states") {
  const std::vector<std::string> ids = catalogue_ids();
  CHECK(ids.size() > 300);
  CHECK(std::is_sorted(ids.begin(), ids.end()));
  for (const std::string& id : ids) {
    INFO(id);
    const FindResult found = find_model({}, id, "");
    REQUIRE(found.files.has_value());
    CHECK(found.files->source == "built-in catalogue");
    const ShapeResult result = read_shape(*found.files);
    INFO(result.error);
    REQUIRE(result.shape != nullptr);
    const double stated = stated_billions(id);
    if (stated == 0) continue;
    const double found_billions = static_cast<double>(memory::parameter_count(*result.shape)) / 1e9;
    INFO(found_billions << " billions");
    CHECK(found_billions > 0.75 * stated);
    CHECK(found_billions < 1.5 * stated);
  }
}

TEST_CASE("the catalogue finds a model whatever the case of its name") {
  const FindResult found = find_model({}, "META-llama/llama-3.1-8b-instruct", "");
  REQUIRE(found.files.has_value());
  CHECK(read_shape(*found.files).shape->num_layers == 32);
}

TEST_CASE("a variant of the catalogue takes what it does not state from its base") {
  const auto shape = [](const char* id) { return read_shape(*find_model({}, id, "").files).shape; };
  const auto plain = shape("Qwen/Qwen3-8B");
  const auto packed = shape("Qwen/Qwen3-8B-AWQ");
  REQUIRE(plain != nullptr);
  REQUIRE(packed != nullptr);
  CHECK(packed->num_layers == plain->num_layers);
  CHECK(plain->quantization == "");
  CHECK(packed->quantization == "awq");
}

TEST_CASE("a model that nobody knows gives the places that were tried") {
  const FindResult found = find_model({}, "nobody/nothing", "");
  CHECK_FALSE(found.files.has_value());
  CHECK(found.error.find("nobody/nothing") != std::string::npos);
  CHECK(found.error.find("built-in catalogue") != std::string::npos);
}
