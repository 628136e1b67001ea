import type { FieldType } from './field-type.ts'

const TEXT: FieldType = { scalar: 'string' }
const ANY: FieldType = { scalar: 'any' }
const NUMBER: FieldType = { scalar: 'number' }
const TEXTS: FieldType = { map: { atomic: false, fields: {}, others: TEXT } }
const OWNER_REFERENCE: FieldType = {
  map: {
    atomic: true,
    fields: { apiVersion: TEXT, kind: TEXT, name: TEXT, uid: TEXT, controller: ANY, blockOwnerDeletion: ANY },
    others: undefined,
  },
}

/** The type of `metadata` of every kind (Kubernetes, ObjectMeta). */
export const OBJECT_META: FieldType = {
  map: {
    atomic: false,
    fields: {
      annotations: TEXTS,
      creationTimestamp: ANY,
      deletionGracePeriodSeconds: NUMBER,
      deletionTimestamp: ANY,
      finalizers: { list: { atomic: false, keys: [], defaults: {}, items: TEXT } },
      generateName: TEXT,
      generation: NUMBER,
      labels: TEXTS,
      managedFields: {
        list: { atomic: true, keys: [], defaults: {}, items: { map: { atomic: true, fields: {}, others: ANY } } },
      },
      name: TEXT,
      namespace: TEXT,
      ownerReferences: { list: { atomic: false, keys: ['uid'], defaults: {}, items: OWNER_REFERENCE } },
      resourceVersion: TEXT,
      selfLink: TEXT,
      uid: TEXT,
    },
    others: undefined,
  },
}
