import { formattedText, mapOf, type ScalarRefusal } from '#schema/index.ts'

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function checkBase64(value: string): ScalarRefusal | undefined {
  if (BASE64.test(value.replace(/[\r\n]/g, ''))) return undefined
  return { code: 'invalid-base64', message: 'must be base64; put plain text in stringData instead' }
}

/** Entries of a Secret or ConfigMap whose values are base64. */
export const base64Map = () => mapOf(formattedText({}, checkBase64))
