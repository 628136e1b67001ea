import { runParts } from '../run-parts.ts'
import { checkCharts } from './charts.ts'
import { checkFleet } from './fleet.ts'
import { checkImage } from './image.ts'
import { checkInstall } from './install.ts'
import { checkRenderedObjects } from './rendered-objects.ts'
import { checkRollouts } from './traffic/rollouts.ts'
import { checkTraffic } from './traffic/traffic.ts'

/** Checks image, charts and the objects that run proxies with Helm and with a real cluster. */
await runParts('interop:cluster', {
  charts: checkCharts,
  rendered: checkRenderedObjects,
  fleet: checkFleet,
  image: checkImage,
  install: checkInstall,
  traffic: checkTraffic,
  rollouts: checkRollouts,
})
