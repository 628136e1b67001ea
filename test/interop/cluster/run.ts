import { runParts } from '../run-parts.ts'
import { checkCharts } from './charts.ts'
import { checkOperation } from './check.ts'
import { checkDiagnosis } from './diagnosis.ts'
import { checkFleet } from './fleet.ts'
import { checkGitops } from './gitops.ts'
import { checkImage } from './image.ts'
import { checkInstall } from './install.ts'
import { checkDefinitions } from './refusals/definitions.ts'
import { checkOverlays } from './refusals/overlays.ts'
import { checkParameters } from './refusals/parameters.ts'
import { checkRequests } from './refusals/requests.ts'
import { checkStrangers } from './refusals/strangers.ts'
import { checkRenderedObjects } from './rendered-objects.ts'
import { checkReplicas } from './replicas.ts'
import { checkOutage } from './traffic/outage.ts'
import { checkRollouts } from './traffic/rollouts.ts'
import { checkRotation } from './traffic/rotation.ts'
import { checkTraffic } from './traffic/traffic.ts'
import { checkVersions } from './traffic/versions.ts'

/** Checks image, charts and the objects that run proxies with Helm and with a real cluster. */
await runParts('interop:cluster', {
  charts: checkCharts,
  rendered: checkRenderedObjects,
  fleet: checkFleet,
  image: checkImage,
  install: checkInstall,
  check: checkOperation,
  gitops: checkGitops,
  traffic: checkTraffic,
  definitions: checkDefinitions,
  parameters: checkParameters,
  strangers: checkStrangers,
  overlays: checkOverlays,
  requests: checkRequests,
  outage: checkOutage,
  rollouts: checkRollouts,
  replicas: checkReplicas,
  rotation: checkRotation,
  diagnosis: checkDiagnosis,
  versions: checkVersions,
})
