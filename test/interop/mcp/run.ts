import { runParts } from '../run-parts.ts'
import { checkConformance } from './conformance/check-conformance.ts'
import { checkPairs, checkPrograms } from './sdks/check-pairs.ts'

/** Checks MCP through a running gateway with the official conformance suite, SDKs and programs. */
await runParts('interop:mcp', {
  conformance: checkConformance,
  sdks: checkPairs,
  programs: checkPrograms,
})
