import { LABEL, manifest } from '#idp/deploy/manifest.ts'
import type { Transcript } from '../transcript.ts'
import { askReferee } from './referee.ts'

/** Decodes the objects of `idp deploy` strictly with the types of Kubernetes, and compares what has to fit together. */
export async function checkDeployedProvider(transcript: Transcript): Promise<void> {
  const objects = manifest({ namespace: 'idp', image: 'keycloak', adminPassword: 'secret' }).map(({ object }) => object)
  const misspelt = { ...objects[0], metadata: { name: 'idp', label: { [LABEL]: 'true' } } }
  const answers = await askReferee('decode-objects', [], [...objects, misspelt])
  transcript.check(
    'the objects have only fields of their kinds',
    answers.slice(0, -1),
    Array(objects.length).fill('ok'),
  )
  transcript.check('a misspelt field is refused', /unknown field "metadata\.label"/.test(answers.at(-1)!), true)
}
