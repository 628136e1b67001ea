import type { CloudServices } from '#policies/shared/clouds/cloud-services.ts'
import { HASHING } from './hashing.ts'

/** The environment variables with the region, as the vendor's tools read them. */
const REGION = ['AWS_REGION', 'AWS_DEFAULT_REGION'] as const

/** What policies need for credentials of clouds, in this process. */
export function createCloudServices(
  credentials: CloudServices['credentials'],
  env: NodeJS.ProcessEnv = process.env,
): CloudServices {
  const region = REGION.map((name) => env[name]?.trim()).find((value) => value !== undefined && value !== '')
  return { hashing: HASHING, region, credentials }
}
