import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Numbers of objects: one policy for every fifth route, one Service for every hundredth. */
export interface Scale {
  readonly routes: number
  readonly policies: number
  readonly services: number
}

export function scaleOf(routes: number): Scale {
  return { routes, policies: Math.ceil(routes / 5), services: Math.ceil(routes / 100) }
}

/** Files of routes, so that an edit touches one of a realistic size. */
const ROUTES_PER_FILE = 100

export function routeFile(folder: string, file: number): string {
  return join(folder, `routes-${file}.yaml`)
}

export function slicesFile(folder: string): string {
  return join(folder, 'slice-0.yaml')
}

/** Writes a configuration: one Gateway, its routes by host, policies on routes, Services with endpoints. */
export function writeObjects(folder: string, { routes, policies, services }: Scale): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'gateway.yaml'), gatewayYaml())
  for (let file = 0; file * ROUTES_PER_FILE < routes; file++)
    writeFileSync(routeFile(folder, file), routesYaml(file, 0))
  const policyCount = policies / Math.ceil(routes / ROUTES_PER_FILE)
  for (let file = 0; file * ROUTES_PER_FILE < routes; file++) {
    const texts = Array.from({ length: policyCount }, (_, i) => policyYaml(file * ROUTES_PER_FILE + i * 5))
    writeFileSync(join(folder, `policies-${file}.yaml`), texts.join('---\n'))
  }
  const all = Array.from({ length: services }, (_, service) => serviceYaml(service))
  writeFileSync(join(folder, 'services.yaml'), all.join('---\n'))
  writeFileSync(slicesFile(folder), sliceYaml(0, 1))
  const others = Array.from({ length: services - 1 }, (_, i) => sliceYaml(i + 1, 1))
  writeFileSync(join(folder, 'slices.yaml'), others.join('---\n'))
}

function gatewayYaml(): string {
  return `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: main}
spec:
  gatewayClassName: gatewright
  listeners: [{name: http, port: 18080, protocol: HTTP}]
`
}

/** @param version changes the first route */
export function routesYaml(file: number, version: number): string {
  const routes = Array.from({ length: ROUTES_PER_FILE }, (_, i) => {
    const route = file * ROUTES_PER_FILE + i
    return routeYaml(route, i === 0 ? version : 0)
  })
  return routes.join('---\n')
}

function routeYaml(route: number, version: number): string {
  return `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: route-${route}}
spec:
  parentRefs: [{name: main}]
  hostnames: [host-${route % 500}.test]
  rules:
    - matches: [{path: {type: PathPrefix, value: /path-${route}/v${version}}}]
      backendRefs: [{name: service-${Math.floor(route / 100)}, port: 80}]
`
}

/** A route in the form of the API. @param version as in `routesYaml` */
export function routeObject(route: number, version: number) {
  return {
    apiVersion: 'gateway.networking.k8s.io/v1',
    kind: 'HTTPRoute',
    metadata: { name: `route-${route}` },
    spec: {
      parentRefs: [{ name: 'main' }],
      hostnames: [`host-${route % 500}.test`],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: `/path-${route}/v${version}` } }],
          backendRefs: [{ name: 'service-0', port: 80 }],
        },
      ],
    },
  }
}

function policyYaml(route: number): string {
  return `apiVersion: gatewright.dev/v1alpha1
kind: ProxyPolicy
metadata: {name: policy-${route}}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: route-${route}}]
  traffic:
    authorization: {policy: {matchExpressions: ['request.headers["x-team"] == "team-${route}"']}}
    headerModifiers: {request: {set: [{name: x-route, value: route-${route}}]}}
`
}

function serviceYaml(service: number): string {
  return `apiVersion: v1
kind: Service
metadata: {name: service-${service}}
spec: {ports: [{port: 80}]}
`
}

/** @param endpoints number of ready addresses */
export function sliceYaml(service: number, endpoints: number): string {
  const addresses = Array.from({ length: endpoints }, (_, i) => `127.0.${service % 250}.${i + 1}`)
  return `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: slice-${service}, labels: {kubernetes.io/service-name: service-${service}}}
addressType: IPv4
endpoints: [{addresses: [${addresses.join(', ')}]}]
ports: [{port: 8080}]
`
}
