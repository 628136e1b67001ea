/** One call of `kubectl` and what it must print. */
export interface KubectlStep {
  readonly words: readonly string[]
  readonly prints: RegExp
  /** Text on standard input. */
  readonly input?: string
  /** The exit code; default 0. */
  readonly code?: number
  /** The editor, for `edit`. */
  readonly editor?: string
  /** The oldest minor version of `kubectl` that can do this. */
  readonly since?: number
}

const BACKEND = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyBackend
metadata: { name: shop }
spec: { static: { host: 127.0.0.1, port: 9 } }
`
const ROUTE = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: { name: shop }
spec:
  parentRefs: [{ name: main }]
  hostnames: [shop.test]
  rules: [{ backendRefs: [{ group: gatewright.dev, kind: ProxyBackend, name: shop }] }]
`
const POLICY = `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: shop }
spec:
  targetRefs: [{ group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop }]
  traffic: { timeouts: { request: 5s } }
`
const SERVICE = `
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { ports: [{ name: http, port: 80 }], selector: { app: web } }
`
const DEFINITION = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: crates.example.com }
spec:
  group: example.com
  names: { plural: crates, singular: crate, kind: Crate }
  scope: Namespaced
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec: { type: object, properties: { replicas: { type: integer } } }
            status: { type: object, properties: { replicas: { type: integer } } }
      subresources:
        scale: { specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas }
`
const CRATE = `
apiVersion: example.com/v1
kind: Crate
metadata: { name: one }
spec: { replicas: 1 }
`

function step(line: string, prints: RegExp, more: Omit<KubectlStep, 'words' | 'prints'> = {}): KubectlStep {
  return { words: line.split(' '), prints, ...more }
}

/** What a user does with `kubectl`, in order. */
export const KUBECTL_STEPS: readonly KubectlStep[] = [
  step('get --raw /version', /"major":"1"/),
  step(
    'api-resources --api-group=gatewright.dev',
    /proxypolicies\s+ppolicy\s+gatewright\.dev\/v1alpha1\s+true\s+ProxyPolicy/,
  ),
  step('auth can-i create gateways', /^yes/),
  step('auth whoami', /Username\s+admin/, { since: 27 }),
  step('get gateways', /main\s+gatewright\s+127\.0\.0\.1\s+True/),
  step('wait --for=condition=Programmed gateway/main --timeout=20s', /condition met/),
  step('apply -f -', /proxybackend\.gatewright\.dev\/shop created/, { input: BACKEND }),
  step('apply -f -', /proxybackend\.gatewright\.dev\/shop unchanged/, { input: BACKEND }),
  step('apply -f -', /httproute\.gateway\.networking\.k8s\.io\/shop created/, { input: ROUTE }),
  step('apply -f -', /proxypolicy\.gatewright\.dev\/shop created/, { input: POLICY }),
  step('wait --for=condition=Accepted pbackend/shop --timeout=20s', /condition met/),
  step(
    'wait --for=jsonpath={.status.parents[0].conditions[?(@.type=="Accepted")].status}=True httproute/shop --timeout=20s',
    /condition met/,
    { since: 23 },
  ),
  step('get ppolicy shop', /NAME\s+ACCEPTED\s+ATTACHED\s+AGE\s+shop\s+True\s+True/),
  step('get gatewright', /proxybackend\.gatewright\.dev\/shop/),
  step('get pbackend shop -o yaml', /host: 127\.0\.0\.1/),
  step('get pbackend -o wide', /NAME\s+ACCEPTED\s+AGE/),
  step('get pbackend shop -o jsonpath={.spec.static.port}', /^9$/),
  step('describe httproute shop', /Hostnames:\s+shop\.test[\s\S]*Accepted/),
  step('explain proxypolicy.spec.traffic.timeouts', /request/),
  step('explain pbackend --recursive', /static/),
  step('apply -f - --dry-run=server', /created \(server dry run\)/, { input: SERVICE }),
  step('diff -f -', /\+\s+port: 10/, { input: BACKEND.replace('port: 9', 'port: 10'), code: 1 }),
  step('apply -f -', /static/, { input: BACKEND.replace('host:', 'hots:'), code: 1 }),
  step('label pbackend shop tier=web', /labeled/),
  step('annotate pbackend shop note=one', /annotated/),
  step('get pbackend -l tier=web -o name', /proxybackend\.gatewright\.dev\/shop/),
  step('get pbackend --field-selector metadata.name=other', /No resources found/),
  step('patch pbackend shop --type=merge -p {"spec":{"static":{"port":10}}}', /patched/),
  step('patch pbackend shop --type=json -p [{"op":"replace","path":"/spec/static/port","value":11}]', /patched/),
  step('edit pbackend shop', /edited/, { editor: 'sed -i s/port:.11/port:\\ 12/' }),
  step('get pbackend shop -o jsonpath={.spec.static.port}', /^12$/),
  step('apply --server-side -f -', /conflict/i, { input: BACKEND, code: 1 }),
  step('apply --server-side --force-conflicts -f -', /serverside-applied/, { input: BACKEND }),
  step('apply --server-side -f -', /serverside-applied/, { input: BACKEND }),
  step('get pbackend shop -o yaml --show-managed-fields', /manager: kubectl[\s\S]*operation: Apply/, { since: 21 }),
  step('get pbackend shop -o jsonpath={.spec.static.port}', /^9$/),
  step('apply -f -', /service\/web created/, { input: SERVICE }),
  step('patch service web -p {"spec":{"ports":[{"port":80,"name":"web"}]}}', /patched/),
  step('get service web -o jsonpath={.spec.ports[*].name}', /^web$/),
  step('replace --force -f -', /replaced/, { input: SERVICE }),
  step('get all', /service\/web/),
  step('get service web -w --request-timeout=2s', /NAME\s+TYPE[\s\S]*web\s/),
  step('apply -f -', /crates\.example\.com created/, { input: DEFINITION }),
  step('wait --for=condition=Established crd/crates.example.com --timeout=20s', /condition met/),
  step('apply -f -', /crate\.example\.com\/one created/, { input: CRATE }),
  step('scale crate one --replicas=3', /scaled/),
  step('get crate one -o jsonpath={.spec.replicas}', /^3$/),
  step('explain crate.spec', /replicas/),
  step('delete crd crates.example.com --timeout=20s', /deleted/),
  step('get crates', /could not find the requested resource|doesn't have a resource type/, { code: 1 }),
  step('get events', /No resources found|LAST SEEN/),
  step('cluster-info', /is running at/),
  step('create configmap values --from-literal=a=b', /configmap\/values created/),
  step('create secret generic keys --from-literal=a=b', /secret\/keys created/),
  step('create namespace apart', /namespace\/apart created/),
  step('create configmap inside --from-literal=a=b -n apart', /created/),
  step('delete namespace apart --timeout=30s', /deleted/),
  step('get configmap inside -n apart', /NotFound/, { code: 1 }),
  step('label gateway main a=b', /gateway\.yaml/, { code: 1 }),
  step('delete gateway main', /gateway\.yaml/, { code: 1 }),
  step('delete service,configmap,secret --all', /deleted/),
  step('delete ppolicy,httproute,pbackend shop', /deleted/),
  step('get pbackend shop', /NotFound/, { code: 1 }),
]
