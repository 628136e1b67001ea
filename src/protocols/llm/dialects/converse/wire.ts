import type {
  ContentBlock as SdkContentBlock,
  ConverseRequest as SdkRequest,
  ToolResultContentBlock as SdkResultBlock,
  SystemContentBlock as SdkSystemBlock,
  Tool as SdkTool,
} from '@aws-sdk/client-bedrock-runtime'

/** Any JSON. */
type Free = NonNullable<SdkRequest['additionalModelRequestFields']>

/** A type of the vendor's package as it is sent: bytes are base64. */
type Wire<Value> = [Free] extends [Value]
  ? unknown
  : Value extends Uint8Array
    ? string
    : Value extends readonly (infer Element)[]
      ? Wire<Element>[]
      : Value extends object
        ? { [Name in keyof Value]: Wire<Value[Name]> }
        : Value

/** The body; the model is in the path. */
export type ConverseRequest = Wire<Omit<SdkRequest, 'modelId'>>
export type ContentBlock = Wire<SdkContentBlock>
export type SystemBlock = Wire<SdkSystemBlock>
export type ResultBlock = Wire<SdkResultBlock>
export type ToolBlock = Wire<SdkTool>
