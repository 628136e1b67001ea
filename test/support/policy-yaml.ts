/** A ProxyPolicy of that name for one object of this namespace; `spec` without its targets, in JSON, which is YAML too. */
export function policyYaml(
  name: string,
  target: 'Gateway' | 'HTTPRoute' | 'GRPCRoute' | 'ProxyBackend' | 'Service',
  of: string,
  spec: object,
): string {
  const group = {
    Gateway: PLATFORM,
    HTTPRoute: PLATFORM,
    GRPCRoute: PLATFORM,
    ProxyBackend: 'gatewright.dev',
    Service: '',
  }[target]
  const targetRefs = [{ group, kind: target, name: of }]
  return `
apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: { name: ${name} }
spec: ${JSON.stringify({ targetRefs, ...spec })}
`
}

const PLATFORM = 'gateway.networking.k8s.io'
