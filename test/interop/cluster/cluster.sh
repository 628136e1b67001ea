#!/bin/bash
# A real Kubernetes cluster with one node, in namespaces of its own: see README.md.
#   cluster.sh packages             installs Debian packages     cluster.sh build   builds programs from Go modules
#   cluster.sh up                   starts the cluster           cluster.sh down    ends it and removes its state
#   cluster.sh import FILE.tar      imports an image             cluster.sh image FOLDER NAME:TAG CONFIG   makes one and imports it
#   cluster.sh in COMMAND...        runs a command inside        cluster.sh kubeconfig   prints the path of one for this machine
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
home=${GW_K8S_HOME:-${TMPDIR:-/tmp}/gatewright-interop/cluster}
bin=$home/bin # programs, which `build` writes
run=$home/run # everything that `up` writes
node=$root/node_modules/.bin/node
port=${GW_K8S_PORT:-16443} # of the API on the loopback address of this machine

kubernetes=1.37.2
helm=v4.3.1
pause=registry.k8s.io/pause:3.10.2
node_name=node-1
# These addresses exist only inside the namespaces.
node_address=10.200.0.1
pods=10.244.0.0/24
services=10.96.0.0/16
api=https://127.0.0.1:6443
metrics_port=10443
# Cgroups of its pods, so that two clusters with different folders and ports can run beside each other.
cgroup=gatewright-$port

say() { echo "[$(date +%T)] $*"; }

packages() {
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends containerd runc containernetworking-plugins iptables nftables conntrack \
    socat iproute2 util-linux openssl kmod curl wrk gcc libc6-dev >/dev/null
}

# go_build FOLDER LINKER_FLAGS PACKAGE...
go_build() {
  local folder=$1 flags=$2
  shift 2
  (cd "$here/$folder" && CGO_ENABLED=0 GOFLAGS=-mod=readonly nice -n 10 \
    go build -trimpath -buildvcs=false -ldflags "-s -w $flags" -o "$bin/" "$@")
}

build() {
  mkdir -p "$bin" "$home/images/pause"
  # Clients ask for the version.
  local stamp="" package
  for package in k8s.io/component-base/version k8s.io/client-go/pkg/version; do
    stamp+=" -X $package.gitVersion=v$kubernetes -X $package.gitMajor=1 -X $package.gitMinor=37"
    stamp+=" -X $package.gitTreeState=clean -X $package.gitCommit=unknown"
  done
  say "building Kubernetes"
  go_build kubernetes "$stamp" k8s.io/kubernetes/cmd/{kube-apiserver,kube-controller-manager,kube-scheduler,kubelet,kube-proxy,kubectl}
  say "building etcd, CoreDNS and Helm"
  (cd "$here/kubernetes" && CGO_ENABLED=0 GOFLAGS=-mod=readonly nice -n 10 \
    go build -trimpath -buildvcs=false -ldflags "-s -w" -o "$bin/etcd" go.etcd.io/etcd/server/v3)
  go_build coredns "" .
  CGO_ENABLED=0 GOBIN=$bin nice -n 10 go install -trimpath -ldflags "-s -w" "helm.sh/helm/v4/cmd/helm@$helm"
  gcc -Os -static -s -o "$home/images/pause/pause" "$here/pause.c"
  folder_image "$home/images/pause" "$home/images/pause.tar" "$pause" '{"Entrypoint":["/pause"],"User":"65535:65535"}'
  say built
}

folder_image() { "$node" "$here/folder-image.ts" "$@"; }

inside() { nsenter -t "$(cat "$run/ns.pid")" -m -n -p -u -i -- "$@"; }

# start NAME COMMAND...
start() {
  local name=$1
  shift
  inside setsid "$@" >"$run/log/$name.log" 2>&1 </dev/null &
}

# wait_for SECONDS WHAT COMMAND...
wait_for() {
  local tries=$(($1 * 5)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((tries-- > 0)) || { say "not in time: $what; logs are in $run/log"; return 1; }
    sleep 0.2
  done
  say "$what"
}

# authority FILE NAME
authority() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj "/CN=$2" \
    -keyout "$run/pki/$1.key" -out "$run/pki/$1.crt" -addext keyUsage=critical,keyCertSign,digitalSignature,cRLSign 2>/dev/null
}

# certificate AUTHORITY FILE SUBJECT [NAMES]
certificate() {
  local file=$run/pki/$2
  openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "$3" -keyout "$file.key" -out "$file.csr" 2>/dev/null
  openssl x509 -req -in "$file.csr" -CA "$run/pki/$1.crt" -CAkey "$run/pki/$1.key" -days 30 -set_serial "0x$(openssl rand -hex 8)" \
    -out "$file.crt" -extfile <(
      echo "extendedKeyUsage=clientAuth,serverAuth"
      [ -z "${4:-}" ] || echo "subjectAltName=$4"
    ) 2>/dev/null
}

# kubeconfig NAME SERVER [CERTIFICATE]
kubeconfig() {
  local certificate=$run/pki/${3:-$1}
  cat >"$run/$1.kubeconfig" <<END
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "$2", certificate-authority-data: $(base64 -w0 <"$run/pki/ca.crt")}}]
users: [{name: u, user: {client-certificate-data: $(base64 -w0 <"$certificate.crt"), client-key-data: $(base64 -w0 <"$certificate.key")}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
current-context: c
END
}

kubectl() { KUBECONFIG=$run/host.kubeconfig "$bin/kubectl" "$@"; }

up() {
  [ ! -e "$run/ns.pid" ] || { say "already up"; exit 1; }
  [ -x "$bin/kubelet" ] || { say "$bin/kubelet is missing; run cluster.sh build first"; exit 1; }
  [ ! -e /sys/fs/cgroup/cgroup.controllers ] || { say "this script knows cgroups version 1 only"; exit 1; }
  mkdir -p "$run"/{log,pki,etcd,containerd,cni,pod-logs,kubelet}
  cgroups | xargs mkdir -p
  namespaces_up
  certificates_up
  control_plane_up
  node_up
}

# Folders of the cluster in each hierarchy of cgroups version 1.
cgroups() { printf "%s$cgroup\n" /sys/fs/cgroup/*/; }

namespaces_up() {
  # One process holds all namespaces: when it is killed, every other process inside ends, too.
  unshare --mount --net --pid --uts --ipc --fork --kill-child --propagation private --mount-proc \
    "$home/images/pause/pause" >"$run/log/namespaces.log" 2>&1 </dev/null &
  local outer=$! tries=50
  echo $outer >"$run/unshare.pid"
  until pgrep -P $outer >"$run/ns.pid.new"; do
    ((tries-- > 0)) || { say "no namespaces: $(cat "$run/log/namespaces.log")"; exit 1; }
    sleep 0.1
  done
  sleep 0.2
  mv "$run/ns.pid.new" "$run/ns.pid"
  inside sh -ec "
    hostname $node_name
    ip link set lo up
    # One end of a veth pair, whose other end leads nowhere: some kernels have no dummy interfaces.
    ip link add node0 type veth peer name node0-out
    ip link set node0-out up
    ip link set node0 up
    ip address add $node_address/24 dev node0
    ip route add default dev node0
    sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.route_localnet=1 net.bridge.bridge-nf-call-iptables=1
    # /sys of the new network namespace, with the cgroups of the machine.
    mkdir -p $run/cgroup
    mount --rbind /sys/fs/cgroup $run/cgroup
    mount -t sysfs sysfs /sys
    mount --rbind $run/cgroup /sys/fs/cgroup
    umount -l $run/cgroup
    # Folders of programs that the machine may also run.
    for folder in /var/lib/cni /run/containerd /var/lib/kubelet /usr/libexec/kubernetes; do
      mkdir -p \$folder $run/hidden\$folder
      mount --bind $run/hidden\$folder \$folder
    done
    # Volumes of pods spread from here on; the unmount above must not.
    mount --make-rshared /
    printf 'nameserver $node_address\n' >$run/resolv.conf
    mount --bind $run/resolv.conf /etc/resolv.conf
  "
}

certificates_up() {
  local dns=DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,DNS:localhost
  authority ca kubernetes
  authority front-proxy-ca front-proxy-ca
  certificate ca apiserver /CN=kube-apiserver "$dns,IP:127.0.0.1,IP:${services%.*}.1,IP:$node_address"
  certificate ca kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client
  certificate ca admin /O=system:masters/CN=kubernetes-admin
  certificate ca controller-manager /CN=system:kube-controller-manager
  certificate ca scheduler /CN=system:kube-scheduler
  certificate ca proxy /CN=system:kube-proxy
  certificate ca kubelet "/O=system:nodes/CN=system:node:$node_name" "DNS:$node_name,IP:$node_address,IP:127.0.0.1"
  certificate front-proxy-ca front-proxy-client /CN=front-proxy-client
  openssl genrsa -out "$run/pki/sa.key" 2048 2>/dev/null
  openssl rsa -in "$run/pki/sa.key" -pubout -out "$run/pki/sa.pub" 2>/dev/null
  local user
  for user in admin controller-manager scheduler proxy kubelet; do kubeconfig $user $api; done
  kubeconfig host "https://127.0.0.1:$port" admin
}

control_plane_up() {
  local pki=$run/pki
  audit_policy >"$run/audit.yaml"
  start etcd "$bin/etcd" --data-dir "$run/etcd" --log-level warn \
    --listen-client-urls http://127.0.0.1:2379 --advertise-client-urls http://127.0.0.1:2379 --listen-peer-urls http://127.0.0.1:2380
  start apiserver "$bin/kube-apiserver" --etcd-servers http://127.0.0.1:2379 --advertise-address $node_address \
    --secure-port 6443 --service-cluster-ip-range $services --authorization-mode Node,RBAC \
    --enable-admission-plugins NodeRestriction --allow-privileged=true --client-ca-file "$pki/ca.crt" \
    --tls-cert-file "$pki/apiserver.crt" --tls-private-key-file "$pki/apiserver.key" \
    --service-account-issuer https://kubernetes.default.svc.cluster.local \
    --service-account-key-file "$pki/sa.pub" --service-account-signing-key-file "$pki/sa.key" \
    --kubelet-certificate-authority "$pki/ca.crt" --kubelet-client-certificate "$pki/kubelet-client.crt" \
    --kubelet-client-key "$pki/kubelet-client.key" --kubelet-preferred-address-types InternalIP \
    --requestheader-client-ca-file "$pki/front-proxy-ca.crt" --requestheader-allowed-names front-proxy-client \
    --requestheader-extra-headers-prefix X-Remote-Extra- --requestheader-group-headers X-Remote-Group \
    --requestheader-username-headers X-Remote-User --proxy-client-cert-file "$pki/front-proxy-client.crt" \
    --proxy-client-key-file "$pki/front-proxy-client.key" --enable-aggregator-routing=true \
    --audit-policy-file "$run/audit.yaml" --audit-log-path "$run/log/audit.log"
  # A Unix socket leads out of the network namespace, to the loopback address of the machine.
  start relay-in socat "UNIX-LISTEN:$run/api.sock,fork,unlink-early" TCP:127.0.0.1:6443
  setsid socat "TCP-LISTEN:$port,bind=127.0.0.1,fork,reuseaddr" "UNIX-CONNECT:$run/api.sock" >"$run/log/relay-out.log" 2>&1 </dev/null &
  echo $! >"$run/relay-out.pid"
  wait_for 90 "the API server is ready" kubectl get --raw /readyz
  local kubeconfig=$run/controller-manager.kubeconfig
  # Autoscaling decides within seconds.
  start controller-manager "$bin/kube-controller-manager" --kubeconfig "$kubeconfig" \
    --authentication-kubeconfig "$kubeconfig" --authorization-kubeconfig "$kubeconfig" \
    --client-ca-file "$pki/ca.crt" --root-ca-file "$pki/ca.crt" --cluster-signing-cert-file "$pki/ca.crt" \
    --cluster-signing-key-file "$pki/ca.key" --service-account-private-key-file "$pki/sa.key" \
    --use-service-account-credentials --leader-elect=false --bind-address 127.0.0.1 --flex-volume-plugin-dir "$run/volume-plugins" \
    --horizontal-pod-autoscaler-sync-period 3s --horizontal-pod-autoscaler-cpu-initialization-period 5s \
    --horizontal-pod-autoscaler-initial-readiness-delay 2s --horizontal-pod-autoscaler-downscale-stabilization 15s
  kubeconfig=$run/scheduler.kubeconfig
  start scheduler "$bin/kube-scheduler" --kubeconfig "$kubeconfig" --authentication-kubeconfig "$kubeconfig" \
    --authorization-kubeconfig "$kubeconfig" --leader-elect=false --bind-address 127.0.0.1
  # Logs and port forwarding.
  kubectl create clusterrolebinding kubelet-api-admin --clusterrole system:kubelet-api-admin --user kube-apiserver-kubelet-client >/dev/null
}

# Requests of the accounts of pods, but not those of the cluster itself.
audit_policy() {
  cat <<END
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - {level: None, userGroups: ["system:serviceaccounts:kube-system"]}
  - {level: Metadata, userGroups: ["system:serviceaccounts"]}
  - {level: None}
END
}

node_up() {
  local pki=$run/pki
  containerd_config >"$run/containerd.toml"
  cni_config >"$run/cni/10-bridge.conflist"
  kubelet_config >"$run/kubelet.yaml"
  cat >"$run/Corefile" <<END
.:53 {
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig $run/admin.kubeconfig
    ttl 1
  }
}
END
  start containerd containerd --config "$run/containerd.toml"
  wait_for 30 "containerd is ready" inside ctr --address "$run/containerd.sock" version
  import "$home/images/pause.tar"
  start kubelet "$bin/kubelet" --config "$run/kubelet.yaml" --kubeconfig "$run/kubelet.kubeconfig" \
    --root-dir "$run/kubelet" --hostname-override $node_name --node-ip $node_address --cert-dir "$pki/kubelet"
  start proxy "$bin/kube-proxy" --kubeconfig "$run/proxy.kubeconfig" --hostname-override $node_name \
    --cluster-cidr $pods --proxy-mode nftables --bind-address 0.0.0.0
  start coredns "$bin/coredns" -conf "$run/Corefile"
  start load-balancers "$node" "$here/load-balancers.ts" $api "$pki"
  start metrics "$node" "$here/metrics.ts" $api "$pki" $metrics_port
  metrics_objects | kubectl apply -f - >/dev/null
  wait_for 60 "the node is ready" kubectl wait --for=condition=Ready node/$node_name --timeout=1s
}

containerd_config() { # version 2, which containerd 1.6 and 2 read
  cat <<END
version = 2
root = "$run/containerd/root"
state = "$run/containerd/state"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.tracing.processor.v1.otlp"]
[grpc]
  address = "$run/containerd.sock"
[ttrpc]
  address = "$run/containerd.ttrpc.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$pause"
  # A root without CAP_SYS_RESOURCE cannot lower the score of a process.
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$run/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
END
}

cni_config() {
  cat <<END
{"cniVersion": "1.0.0", "name": "pods", "plugins": [
  {"type": "bridge", "bridge": "cni0", "isGateway": true, "hairpinMode": true, "ipMasq": false,
   "ipam": {"type": "host-local", "dataDir": "$run/cni-state", "ranges": [[{"subnet": "$pods"}]], "routes": [{"dst": "0.0.0.0/0"}]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}]}
END
}

kubelet_config() {
  cat <<END
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
cgroupRoot: /$cgroup
containerRuntimeEndpoint: unix://$run/containerd.sock
failSwapOn: false
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $run/pki/ca.crt}}
authorization: {mode: Webhook}
tlsCertFile: $run/pki/kubelet.crt
tlsPrivateKeyFile: $run/pki/kubelet.key
clusterDomain: cluster.local
clusterDNS: [$node_address]
resolvConf: $run/resolv.conf
podLogsDir: $run/pod-logs
volumePluginDir: $run/volume-plugins
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: 50Mi, nodefs.available: 1%, nodefs.inodesFree: 1%, imagefs.available: 1%}
podCIDR: $pods
END
}

metrics_objects() {
  cat <<END
{apiVersion: v1, kind: Service, metadata: {name: metrics, namespace: kube-system}, spec: {ports: [{port: 443, targetPort: $metrics_port}]}}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: metrics-1, namespace: kube-system, labels: {kubernetes.io/service-name: metrics}}
addressType: IPv4
ports: [{name: "", port: $metrics_port}]
endpoints: [{addresses: [$node_address], conditions: {ready: true}}]
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.metrics.k8s.io}
spec:
  group: metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: metrics, namespace: kube-system}
END
}

# The folder of a command inside is /, so paths are absolute.
import() { inside ctr --address "$run/containerd.sock" -n k8s.io images import "$(realpath "$1")"; }

image() {
  mkdir -p "$home/images"
  folder_image "$1" "$home/images/image.tar" "$2" "${3:-{\}}"
  import "$home/images/image.tar"
}

down() {
  if [ -e "$run/ns.pid" ]; then
    local outer
    outer=$(cat "$run/unshare.pid")
    [ ! -e "$run/relay-out.pid" ] || kill "$(cat "$run/relay-out.pid")" 2>/dev/null || true
    # Ends all processes inside, and with them all mounts and interfaces.
    kill -9 "$(cat "$run/ns.pid")" 2>/dev/null || true
    while kill -0 "$outer" 2>/dev/null; do sleep 0.1; done
    local folder
    for folder in $(cgroups); do
      [ ! -d "$folder" ] || find "$folder" -depth -type d -exec rmdir {} \; 2>/dev/null || true
    done
  fi
  rm -rf "$run"
  say "the cluster is down"
}

case ${1:-} in
  packages | build | up | down | import | image) "$@" ;;
  in) shift && inside "$@" ;;
  kubeconfig) echo "$run/host.kubeconfig" ;;
  *)
    sed -n 2,6p "$0"
    exit 2
    ;;
esac
