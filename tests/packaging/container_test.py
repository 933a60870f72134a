#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the DaemonSet and the recipe of the image against what the daemon asks for and the package has.

usage: container_test.py SOURCE_DIR [unittest arguments]
"""
import pathlib
import re
import sys
import unittest

SOURCE = pathlib.Path(sys.argv[1])
CONTAINER = SOURCE / "packaging/container"


class Recipe(unittest.TestCase):
    def test_starts_what_the_package_installs(self):
        text = (CONTAINER / "Containerfile").read_text()
        entry = re.search(r'(?m)^ENTRYPOINT \["(/[^"]+)"', text)[1]
        self.assertIn(entry.lstrip("/"), (SOURCE / "packaging/debian/lldp-level.install").read_text().split())
        for option in re.findall(r'"--([\w.-]+)"', text):
            self.assertIn(f'{{"{option}",', (SOURCE / "agent/config/options.cpp").read_text())


    def test_is_made_of_the_package_and_what_it_recommends(self):
        text = re.sub(r"\\\n", " ", re.sub(r"(?m)^#.*\n", "", (CONTAINER / "Containerfile").read_text()))
        self.assertEqual([line.split()[0] for line in text.splitlines()], ["FROM", "COPY", "RUN", "ENTRYPOINT"])
        copied = re.search(r"(?m)^COPY (\S+) (\S+/)$", text)
        self.assertIn(f" {copied[2]}{copied[1]} ", text)
        self.assertRegex(text, r"RUN apt-get update\s+&& apt-get install -y --no-install-recommends ")
        self.assertRegex(text, r"&& rm -rf /tmp/\*\.deb /var/lib/apt/lists/\*")


class Rights(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        try:
            import yaml
        except ImportError:
            raise unittest.SkipTest("python3-yaml is not installed")
        cls.config, cls.set = yaml.safe_load_all((CONTAINER / "daemonset.yaml").read_text())
        cls.pod = cls.set["spec"]["template"]["spec"]
        cls.containers = {c["name"]: c for c in cls.pod["containers"]}

    def test_is_one_pod_a_node_that_sees_the_nodes_interfaces(self):
        self.assertEqual([(d["apiVersion"], d["kind"]) for d in (self.config, self.set)],
                         [("v1", "ConfigMap"), ("apps/v1", "DaemonSet")])
        self.assertTrue(self.pod["hostNetwork"])
        labels = self.set["spec"]["selector"]["matchLabels"]
        self.assertLessEqual(labels.items(), self.set["spec"]["template"]["metadata"]["labels"].items())
        self.assertEqual(self.set["metadata"]["namespace"], self.config["metadata"]["namespace"])
        named = [v["configMap"]["name"] for v in self.pod["volumes"] if "configMap" in v]
        self.assertEqual(named, [self.config["metadata"]["name"]])

    def test_capabilities_are_those_that_the_daemon_keeps(self):
        kept = re.search(r"kKept\{([^}]*)\}", (SOURCE / "agent/process/privileges.cpp").read_text())[1]
        wanted = {word.removeprefix("CAP_") for word in kept.replace(",", " ").split()}
        for name, container in self.containers.items():
            rights = container["securityContext"]
            self.assertEqual(rights["capabilities"]["drop"], ["ALL"], name)
            self.assertEqual(set(rights["capabilities"].get("add", [])), wanted if name == "lldp-leveld" else set(), name)
            self.assertFalse(rights.get("privileged", False), name)
            self.assertFalse(rights["allowPrivilegeEscalation"], name)
            self.assertTrue(rights["readOnlyRootFilesystem"], name)
        self.assertTrue(self.containers["exporter"]["securityContext"]["runAsNonRoot"])
        for more in ("hostPID", "hostIPC", "serviceAccountName"):
            self.assertNotIn(more, self.pod)
        self.assertFalse(self.pod["automountServiceAccountToken"])

    def test_only_its_own_of_the_node_is_mounted(self):
        paths = {volume["hostPath"]["path"] for volume in self.pod["volumes"] if "hostPath" in volume}
        self.assertEqual(paths, {"/sys/fs/bpf/lldp-level", "/var/lib/lldp-level"})
        volumes = {volume["name"] for volume in self.pod["volumes"]}
        for container in self.containers.values():
            self.assertLessEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)
        self.assertEqual(list(self.config["data"]), ["lldp-level.conf"])

    def test_folders_are_where_the_programs_look(self):
        config = (SOURCE / "agent/config/config.hpp").read_text()
        place = lambda constant: str(pathlib.PurePath(re.search(rf'{constant} =?\s*"([^"]+)"', config)[1]).parent)
        entry = re.search(r'"--bpffs", "([^"]+)"', (CONTAINER / "Containerfile").read_text())[1]
        mounts = {name: {m["name"]: (m["mountPath"], m.get("readOnly", False)) for m in c["volumeMounts"]}
                  for name, c in self.containers.items()}
        run = place("kDefaultSocket")
        self.assertEqual(mounts["lldp-leveld"], {"config": (place("kDefaultFile"), True), "run": (run, False), "bpf": (entry, False),
                                                 "state": (place("kDefaultStateFile"), False)})
        self.assertEqual(mounts["exporter"], {"run": (run, True)})  # it looks, and changes nothing
        for volume in self.pod["volumes"]:
            if "hostPath" in volume:  # a node that has never had one
                self.assertEqual(volume["hostPath"]["type"], "DirectoryOrCreate")
        self.assertEqual(next(v["emptyDir"]["medium"] for v in self.pod["volumes"] if "emptyDir" in v), "Memory")

    def test_users_are_those_that_the_files_belong_to(self):
        daemon, exporter = (self.containers[name]["securityContext"] for name in ("lldp-leveld", "exporter"))
        self.assertEqual((daemon["runAsUser"], daemon["runAsGroup"]), (0, 0))
        # Another user, and the socket's group, by which it may look.
        self.assertGreater(exporter["runAsUser"], 0)
        self.assertEqual(exporter["runAsGroup"], daemon["runAsGroup"])
        for name, container in self.containers.items():
            self.assertEqual(container["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"}, name)

    def test_daemon_that_hangs_is_started_again_and_one_that_starts_is_not(self):
        daemon = self.containers["lldp-leveld"]
        for kind in ("startupProbe", "livenessProbe"):
            probe = daemon[kind]
            *words, patience = probe["exec"]["command"]
            self.assertEqual(words, ["lldp-level", "wait", "--timeout"])
            self.assertLessEqual(int(patience), probe.get("timeoutSeconds", 1), "an answer in time would count as none")
        self.assertGreaterEqual(daemon["startupProbe"]["periodSeconds"] * daemon["startupProbe"]["failureThreshold"], 30)
        # Three that fail, Kubernetes' default, and then what it has to end: before neighbors forget it.
        self.assertLess(3 * daemon["livenessProbe"]["periodSeconds"] + self.pod["terminationGracePeriodSeconds"], 120)

    def test_a_node_in_need_ends_others_first_and_a_leak_ends_here(self):
        self.assertEqual(self.pod["priorityClassName"], "system-node-critical")
        self.assertEqual(self.pod["tolerations"], [{"operator": "Exists"}])  # a node that is drained has cables too
        for name, container in self.containers.items():
            self.assertEqual(set(container["resources"]["requests"]), {"cpu", "memory"}, name)
            self.assertEqual(set(container["resources"]["limits"]), {"memory"}, name)  # to be slowed down is to be silent
            self.assertEqual(container["imagePullPolicy"], "IfNotPresent", name)  # it comes from no registry

    def test_pods_follow_each_other_without_a_gap_in_the_fabric(self):
        self.assertLessEqual(self.pod["terminationGracePeriodSeconds"], 10)  # of neighbors' 120 s
        self.assertRegex(self.set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"], r"^\d{1,2}%$")
        self.assertFalse(self.pod["enableServiceLinks"])  # one variable per service of the namespace
        self.assertEqual(self.set["metadata"]["name"], "lldp-level")  # by which the manual asks it
        self.assertEqual(self.set["metadata"]["labels"], self.set["spec"]["selector"]["matchLabels"])

    def test_exporter_is_for_the_node_alone(self):
        command = self.containers["exporter"]["command"]
        self.assertEqual(command[:3], ["lldp-level", "metrics", "--listen"])
        self.assertTrue(command[3].startswith("127.0.0.1:"))

    def test_image_has_the_version(self):
        version = re.search(r"project\(lldp-level VERSION ([\d.]+)", (SOURCE / "CMakeLists.txt").read_text())[1]
        for container in self.containers.values():
            self.assertEqual(container["image"].split(":")[1], version)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
