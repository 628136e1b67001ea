import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

interface Alert {
  readonly alert: string
  readonly labels: { readonly severity: string }
}

test('the guide names the alerts that are critical, and metrics that exist', () => {
  const page = readFileSync('docs/guides/monitoring.md', 'utf8')
  const { groups } = parse(readFileSync('install/observability/prometheus-alerts.yaml', 'utf8')) as {
    readonly groups: readonly { readonly rules: readonly Alert[] }[]
  }
  const critical = groups.flatMap(({ rules }) => rules).filter(({ labels }) => labels.severity === 'critical')
  expect([...page.matchAll(/`(Gatewright\w+)`/g)].map(([, name]) => name)).toEqual(critical.map(({ alert }) => alert))
  const reference = readFileSync('docs/behaviour/observability.md', 'utf8')
  const metrics = [...page.matchAll(/\bgatewright_[a-z_]+/g)].map(([name]) => name)
  expect(metrics.filter((name) => !reference.includes(`| \`${name}\` |`))).toEqual([])
  expect(metrics.length).toBeGreaterThan(2)
})
