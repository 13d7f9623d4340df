#include "lint/engine/encoder_limits.h"

#include "tests/support/catch.h"

using namespace kvbudget;

TEST_CASE("limits of images and videos are read in every spelling") {
  CHECK(item_limit("", "image") == 1);
  CHECK(item_limit(R"({"image": 2, "video": {"count": 0}})", "image") == 2);
  CHECK(item_limit(R"({"image": 2, "video": {"count": 0}})", "video") == 0);
  CHECK(item_limit("image=3,video=0", "image") == 3);
  CHECK(item_limit("image=3,video=0", "video") == 0);
  CHECK(item_limit("image=3", "video") == 1);
  CHECK(item_limit("image=many", "image") == 1);
  CHECK(max_image_pixels("") == 0);
  CHECK(max_image_pixels(R"({"max_pixels": 1003520})") == 1'003'520);
  CHECK(max_image_pixels(R"({"size": {"shortest_edge": 3136, "longest_edge": 501760}})") ==
        501'760);
  CHECK(max_image_pixels(R"({"images_kwargs": {"max_pixels": 784}})") == 784);
}
