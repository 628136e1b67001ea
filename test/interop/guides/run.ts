import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { readGuide } from '../../guides/guide-page.ts'
import { runGuide } from '../../guides/run-guide.ts'
import { builtGoProgram, installedGoProgram, installedProgram } from '../counterparts.ts'
import { type Part, runParts } from '../run-parts.ts'

/** Where the programs come from that guides need. */
const PROGRAMS: Readonly<Record<string, () => string>> = {
  'redis-server': () => installedProgram('redis-server', 'redis-server'),
  ratelimit: () =>
    installedGoProgram(
      'ratelimit',
      'github.com/envoyproxy/ratelimit/src/service_cmd@v1.4.1-0.20260122083618-3fb702589d36',
    ),
  // The checksum database does not have it: go.sum does.
  'opa-envoy': () =>
    builtGoProgram(
      join(import.meta.dirname, 'go'),
      'opa-envoy',
      'github.com/open-policy-agent/opa-envoy-plugin/cmd/opa-envoy-plugin',
    ),
}

/** Runs the guides that need programs which `npm test` does not have. */
const parts: Record<string, Part> = {}
for (const path of globSync('docs/guides/*.md')) {
  const page = readGuide(readFileSync(path, 'utf8'))
  if (page.needs.length === 0) continue
  parts[basename(path, '.md')] = async (transcript) => {
    const programs = page.needs.map((name) => [name, PROGRAMS[name]!()])
    const differences = await runGuide(page, Object.fromEntries(programs))
    for (const step of page.steps) {
      if (step.kind !== 'command') continue
      const printed = differences.find(({ command }) => command === step)?.printed
      transcript.check(step.text, printed ?? step.output, step.output)
    }
  }
}
await runParts('interop:guides', parts)
