import { runParts } from '../run-parts.ts'
import { startA2aGateway } from './a2a-gateway.ts'
import { commonInterfaces, meet, worseIn } from './meet.ts'
import { loadPython } from './python/pair.ts'
import { loadPython03 } from './python-0.3/pair.ts'
import { SCENARIOS } from './scenarios.ts'
import { startTypescript1 } from './typescript/agent-1.ts'
import { typescript1 } from './typescript/client-1.ts'
import { loadTypescript03 } from './typescript-0.3/pair.ts'

/** Checks A2A through a running gateway: every client of an official SDK meets every agent, directly and through the gateway. */
await runParts('interop:a2a', {
  async sdks(transcript, stops) {
    const python = await loadPython(stops)
    const python03 = await loadPython03(stops)
    const typescript03 = await loadTypescript03(stops)
    const agents = [await startTypescript1(stops), typescript03.agent, python.agent, python03.agent]
    const gateway = await startA2aGateway(stops, agents)
    for (const client of [typescript1, typescript03.client, python.client, python03.client]) {
      for (const agent of agents) {
        for (const over of commonInterfaces(client, agent)) {
          const first = await meet(client, agent, over, gateway)
          // On a machine that stood still meanwhile, time limits have ended something. What is worse twice counts.
          const again = worseIn(first).length > 0 ? await meet(client, agent, over, gateway) : first
          const { name, direct, through } = again
          for (const scenario of SCENARIOS) {
            const [without, seen] = [direct[scenario], through[scenario]]
            const both = without === 'ok' ? '' : ` (without the gateway: ${without})`
            transcript.check(`${name}: ${scenario}${both}`, without === 'ok' ? seen : 'ok', 'ok')
          }
        }
      }
    }
  },
})
