import { expect, test } from 'vitest'
import { CloudCredentials } from '#policies/shared/clouds/cloud-credential.ts'
import { createCloudServices } from './cloud-services.ts'

test.each([
  [{}, undefined],
  [{ AWS_REGION: 'eu-west-1', AWS_DEFAULT_REGION: 'us-east-1' }, 'eu-west-1'],
  [{ AWS_REGION: ' ', AWS_DEFAULT_REGION: ' us-east-1\n' }, 'us-east-1'],
])('the region of %j is %s', (env, region) => {
  expect(createCloudServices(new CloudCredentials(), env).region).toBe(region)
})
