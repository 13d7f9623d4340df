"""Every release that the plugin knows has what the plugin touches, by the facts in surfaces.json:
no release needs to be installed for it."""

import inspect
import json
import pathlib
import tempfile
import unittest

import surface
from kvbudget.vllm import contract, groups

SURFACES = json.loads(surface.DATA.read_text())


def stand_in(name, methods):
    """A class whose methods take what the release's take."""

    def method(given):
        def stand(*_, **__):
            raise AssertionError("a signature alone")

        kinds = inspect.Parameter
        found = [kinds("self", kinds.POSITIONAL_ONLY)]
        for p in given:
            kind = kinds.KEYWORD_ONLY
            if p.startswith("*"):
                kind = kinds.VAR_KEYWORD if p.startswith("**") else kinds.VAR_POSITIONAL
            found.append(kinds(p.lstrip("*"), kind))
        stand.__signature__ = inspect.Signature(sorted(found, key=lambda p: p.kind))
        return stand

    return type(name, (), {m: method(given) for m, given in methods.items()})


class SurfaceTest(unittest.TestCase):
    def test_the_releases_are_those_that_start(self):
        releases = {contract.release_of(version) for version in SURFACES}
        first, last = contract.FIRST, contract.LAST
        self.assertEqual(releases, {(0, minor) for minor in range(first[1], last[1] + 1)})

    def test_each_scheduler_passes_the_check_at_the_start(self):
        for version, facts in SURFACES.items():
            with self.subTest(version):
                scheduler = stand_in("Scheduler", facts["methods"]["Scheduler"])
                contract.require(version, scheduler)
                del scheduler.finish_requests
                with self.assertRaisesRegex(RuntimeError, "no method finish_requests"):
                    contract.require(version, scheduler)

    def test_the_table_of_methods_holds_all_that_the_check_asks_for(self):
        self.assertEqual(
            set(surface.METHODS[surface.SCHEDULER, "Scheduler"]), set(contract.METHODS)
        )

    def test_an_async_scheduler_takes_what_the_other_one_does(self):
        for version, facts in SURFACES.items():
            with self.subTest(version):
                given = facts["methods"]["AsyncScheduler"]["__init__"]
                self.assertEqual(given, ["*args", "**kwargs"])

    def test_all_methods_and_attributes_are_there(self):
        for version, facts in SURFACES.items():
            with self.subTest(version):
                for (_, name), wanted in surface.METHODS.items():
                    self.assertEqual(set(wanted), set(facts["methods"][name]), name)
                for (_, name), wanted in surface.ATTRIBUTES.items():
                    self.assertEqual(list(wanted), facts["attributes"][name], name)

    def test_a_request_can_be_refused_as_the_clients_mistake(self):
        for version, facts in SURFACES.items():
            with self.subTest(version):
                given = facts["methods"]["VLLMValidationError"]["__init__"]
                self.assertLessEqual({"message", "parameter", "value"}, set(given))

    def test_groups_bound_themselves_by_two_numbers(self):
        for version, facts in SURFACES.items():
            with self.subTest(version):
                for name in ("SlidingWindowSpec", "ChunkedLocalAttentionSpec"):
                    given = facts["methods"][name]["max_admission_blocks_per_request"]
                    self.assertEqual((len(given), given[1]), (2, "max_model_len"))

    def test_classes_of_groups_that_are_counted_exist(self):
        counted = {*groups._FULL, *groups._BOUNDED, groups._NO_CACHE}
        counted |= {"MambaSpec", "CrossAttentionSpec", "UniformTypeKVCacheSpecs"}
        for version, facts in SURFACES.items():
            with self.subTest(version):
                self.assertLessEqual(counted, set(facts["specs"]))

    def test_the_reader_sees_bases_fields_and_what_is_assigned_to_self(self):
        source = (
            "class Base:\n    def kept(self, a): pass\n"
            "class Thing(Base):\n    field: int\n    ONE, TWO = 1, 2\n"
            "    def method(self, a, *rest, b=1, **others):\n        self.made = a\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "thing.py"
            path.write_text(source)
            module = surface.Module(path)
        self.assertEqual(
            module.attributes("Thing"), {"field", "ONE", "TWO", "made", "kept", "method"}
        )
        given = surface.parameters(module.methods("Thing")["method"])
        self.assertEqual(given, ["a", "b", "*rest", "**others"])
        self.assertEqual(module.attributes("Gone"), set())


if __name__ == "__main__":
    unittest.main()
