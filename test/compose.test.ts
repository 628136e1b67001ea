import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { OWN_PORTS } from '#api/own-ports.ts'
import { gatewright } from './support/command-line.ts'

const FOLDER = 'install/compose'

interface Service {
  readonly image: string
  readonly build?: string
  readonly ports: readonly string[]
  readonly volumes: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

interface Compose {
  readonly services: Readonly<Record<'gateway' | 'prometheus' | 'grafana', Service>>
  readonly volumes: Readonly<Record<string, null>>
}

const read = <T>(path: string) => parse(readFileSync(path, 'utf8')) as T
const compose = read<Compose>(join(FOLDER, 'compose.yaml'))
const services = Object.values(compose.services)
const mounts = services.flatMap(({ volumes }) => volumes.map((volume) => volume.split(':')))
/** Where a container sees a file of this checkout. */
const targetOf = (file: string) => mounts.find(([from]) => join(FOLDER, from!) === file)?.[1]

test('what is mounted exists, and containers cannot change it', () => {
  const files = mounts.filter(([from]) => from!.startsWith('.'))
  expect(files.length).toBeGreaterThan(4)
  expect(files.filter(([from, , mode]) => !existsSync(join(FOLDER, from!)) || mode !== 'ro')).toEqual([])
  const named = mounts.map(([from]) => from!).filter((from) => !from.startsWith('.'))
  expect(named).toEqual(Object.keys(compose.volumes))
  expect(existsSync(join(FOLDER, compose.services.gateway.build!, 'Dockerfile'))).toBe(true)
})

test('published images have exact versions', () => {
  for (const { image } of services.filter(({ build }) => build === undefined)) {
    expect(image).toMatch(/^[a-z]+\/[a-z]+:v?\d+\.\d+\.\d+$/)
  }
})

test('only the port of the listener can be reached from other machines', () => {
  const ports = services.flatMap((service) => service.ports)
  expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual(['8080:8080'])
})

test('the objects have no problems', async () => {
  const { code, stdout } = await gatewright(['lint', '--fail-on', 'warnings', `${FOLDER}/objects`])
  expect([code, stdout]).toEqual([0, expect.stringContaining('nothing to report')])
  const explained = await gatewright(['explain', '-f', `${FOLDER}/objects`, 'http://localhost:8080/'])
  expect(explained.stdout).toContain('hello from a container')
})

test('Prometheus does what it does beside a gateway on the same machine', () => {
  const elsewhere = readFileSync('install/observability/prometheus.yaml', 'utf8')
  const expected = parse(elsewhere.replace(`127.0.0.1:${OWN_PORTS.metrics}`, `gateway:${OWN_PORTS.metrics}`))
  expect(parse(elsewhere)).not.toEqual(expected)
  expect(read(join(FOLDER, 'prometheus.yaml'))).toEqual(expected)
  const rules = targetOf('install/observability/prometheus-alerts.yaml')
  expect(rules).toBe('/etc/prometheus/prometheus-alerts.yaml')
  expect(targetOf('install/compose/prometheus.yaml')).toBe('/etc/prometheus/prometheus.yml')
})

test('Grafana has Prometheus as its source, and the dashboard', () => {
  const { datasources } = read<{ datasources: readonly unknown[] }>(join(FOLDER, 'grafana/datasource.yaml'))
  expect(datasources).toEqual([
    { name: 'Prometheus', type: 'prometheus', url: 'http://prometheus:9090', isDefault: true },
  ])
  expect(compose.services.prometheus.ports).toEqual(['127.0.0.1:9090:9090'])
  const { providers } = read<{ providers: readonly { options: { path: string } }[] }>(
    join(FOLDER, 'grafana/dashboards.yaml'),
  )
  const dashboard = targetOf('install/observability/grafana-dashboard.json')
  expect(dashboard).toBe(`${providers[0]?.options.path}/grafana-dashboard.json`)
  expect(compose.services.grafana.environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH).toBe(dashboard)
})
