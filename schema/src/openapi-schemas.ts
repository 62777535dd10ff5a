import type { TSchema } from 'typebox'
import { AddressValidation } from './addresses.ts'
import * as crossChain from './cross-chain.ts'
import {
  CancelExchangeBody,
  CreateExchangeBody,
  CreatePrivateExchangeBody,
  LIMIT_PATTERN,
  NameRefundAddressBody,
  PAGE_PATTERN,
} from './cross-chain-requests.ts'
import * as defi from './defi.ts'
import { BuildSwapBody, SendApprovalBody, SendSwapBody } from './defi-requests.ts'
import { ErrorBody, errorCodeNames, Problem, partnerErrorCodeNames } from './errors.ts'
import * as events from './events.ts'
import * as changes from './exchange-changes.ts'
import * as feeAddresses from './fee-addresses.ts'
import * as partner from './partner.ts'
import * as quotes from './quotes.ts'
import { KNOWN_VALUES } from './scalars.ts'
import * as service from './service.ts'
import * as tracking from './tracking.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }
export type JsonObject = { readonly [key: string]: Json }
type Members = Readonly<Record<string, unknown>>

/** Schemas with a name in the document. */
const namedSchemas: Readonly<Record<string, TSchema>> = {
  AddressValidation,
  AggregatorQuote: defi.AggregatorQuote,
  AssetIdentity: partner.AssetIdentity,
  BuildSwapBody,
  CancelExchangeBody,
  CancelledExchange: changes.CancelledExchange,
  CreateExchangeBody,
  CreatePrivateExchangeBody,
  CreateWebhookBody: events.CreateWebhookBody,
  CreatedExchange: crossChain.CreatedExchange,
  CreatedRequest: crossChain.CreatedRequest,
  CreatedWebhook: events.CreatedWebhook,
  Currency: crossChain.Currency,
  CurrencyList: crossChain.CurrencyList,
  CurrencyPair: partner.CurrencyPair,
  CurrencyPairs: partner.CurrencyPairs,
  DefiCurrency: defi.DefiCurrency,
  DefiCurrencyList: defi.DefiCurrencyList,
  DefiNetwork: defi.DefiNetwork,
  DefiNetworkList: defi.DefiNetworkList,
  DeletedWebhook: events.DeletedWebhook,
  Delivery: events.Delivery,
  DeliveryList: events.DeliveryList,
  DexExchange: defi.DexExchange,
  DexExchangeList: defi.DexExchangeList,
  DexPart: defi.DexPart,
  ErrorBody,
  ExchangeEvent: events.ExchangeEvent,
  ExchangeList: crossChain.ExchangeList,
  ExchangeRecord: crossChain.ExchangeRecord,
  ExchangeReport: partner.ExchangeReport,
  ExchangeRequest: crossChain.ExchangeRequest,
  ExchangeStatusAnswer: crossChain.ExchangeStatusAnswer,
  ExchangeStatusList: crossChain.ExchangeStatusList,
  Execution: crossChain.Execution,
  Intermediary: quotes.Intermediary,
  ListedExchange: crossChain.ListedExchange,
  ListedRequest: crossChain.ListedRequest,
  Live: service.Live,
  NamedRefundAddress: changes.NamedRefundAddress,
  NameRefundAddressBody,
  PartnerBalance: partner.PartnerBalance,
  MonthlyPayoutSetting: partner.MonthlyPayoutSetting,
  FeeAddress: feeAddresses.FeeAddress,
  FeeAddressList: feeAddresses.FeeAddressList,
  NextFeeAddress: feeAddresses.NextFeeAddress,
  SetFeeAddressBody: feeAddresses.SetFeeAddressBody,
  PartnerBalances: partner.PartnerBalances,
  PartnerFees: partner.PartnerFees,
  PartnerMovement: partner.PartnerMovement,
  PartnerUsage: partner.PartnerUsage,
  PrivateRateQuote: quotes.PrivateRateQuote,
  Problem,
  QuoteFees: quotes.QuoteFees,
  RateQuote: quotes.RateQuote,
  RawTransactions: defi.RawTransactions,
  Ready: service.Ready,
  Refund: crossChain.Refund,
  ReportedExchange: partner.ReportedExchange,
  SendApprovalBody,
  SendSwapBody,
  SubRoute: defi.SubRoute,
  SwapEvent: events.SwapEvent,
  PartnerChangeEvent: events.PartnerChangeEvent,
  SwapQuote: defi.SwapQuote,
  SwapRemainder: defi.SwapRemainder,
  SwapRoute: defi.SwapRoute,
  TrackedDeposit: tracking.TrackedDeposit,
  TrackedExchange: tracking.TrackedExchange,
  TransactionHash: defi.TransactionHash,
  TestedWebhook: events.TestedWebhook,
  Webhook: events.Webhook,
  WebhookList: events.WebhookList,
  WebhookSecret: events.WebhookSecret,
  WebhookTest: events.WebhookTest,
  WebhookTestEvent: events.WebhookTestEvent,
}
/** Named only in the document of the sandbox. */
const sandboxSchemas: Readonly<Record<string, TSchema>> = {
  SandboxBalance: service.SandboxBalance,
  SandboxBlocksBody: service.SandboxBlocksBody,
  SandboxDeposit: service.SandboxDeposit,
  SandboxDepositBody: service.SandboxDepositBody,
  SandboxExpiry: service.SandboxExpiry,
  SandboxExpiryBody: service.SandboxExpiryBody,
  SandboxMiningBody: service.SandboxMiningBody,
  SandboxNetwork: service.SandboxNetwork,
  SandboxNetworks: service.SandboxNetworks,
  SandboxPricesBody: service.SandboxPricesBody,
  SandboxReorgsBody: service.SandboxReorgsBody,
  SandboxReport: service.SandboxReport,
  SandboxWallet: service.SandboxWallet,
  SandboxWalletBody: service.SandboxWalletBody,
}
/** Enums with a name, so that a generator makes one type of each. */
const namedEnums: Readonly<Record<string, Readonly<{ values: readonly string[]; description: string }>>> = {
  AnswerFormat: { values: partner.answerFormats, description: 'Format of an answer.' },
  DefiNetworkTicker: { values: defi.defiNetworks, description: 'Network of the DeFi part.' },
  DeliveryState: { values: events.deliveryStates, description: 'State of a delivery.' },
  DisabledBy: { values: events.disabledByValues, description: 'Who disabled a webhook.' },
  EventType: { values: events.eventTypes, description: 'What a webhook can subscribe to.' },
  ErrorCode: { values: errorCodeNames, description: 'Stable code of a failure.' },
  ExchangeEventType: { values: events.exchangeEventTypes, description: 'Events of exchanges.' },
  ExchangeStatus: { values: crossChain.exchangeStatuses, description: 'Status of an exchange or of an execution.' },
  ExchangeType: { values: crossChain.exchangeTypes, description: 'Kind of exchange.' },
  Flow: { values: crossChain.flows, description: 'Floating (`standard`) or fixed rate.' },
  MovementKind: { values: partner.movementKinds, description: 'What moved a balance.' },
  PrivateType: {
    values: crossChain.privateTypes,
    description: 'How the intermediary of a private exchange is chosen.',
  },
  StatusReason: { values: crossChain.statusReasons, description: 'Reason for a status.' },
  SwapEventType: { values: events.swapEventTypes, description: 'Events of swaps.' },
  SwapReason: { values: defi.swapReasons, description: 'Why a swap failed.' },
  SwapStatus: { values: defi.swapStatuses, description: 'Status of a swap.' },
}

const allSchemas = Object.entries({ ...namedSchemas, ...sandboxSchemas })
const nameBySchema = new Map<unknown, string>(allSchemas.map(([name, schema]) => [schema, name]))
/** A nullable or optional object shares only the members with its schema. */
const nameByMembers = new Map<unknown, string>(
  allSchemas.flatMap(([name, schema]) => ('properties' in schema ? [[schema.properties, name] as const] : [])),
)
const nameByValues = new Map(Object.entries(namedEnums).map(([name, { values }]) => [values.join(), name]))

const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` })

/** Plain JSON of a schema, with references to named schemas and enums. `isTopLevel`: the schema itself is not replaced. */
export function toPlainJson(value: unknown, isTopLevel: boolean): Json {
  if (Array.isArray(value)) return value.map((item) => toPlainJson(item, false))
  if (typeof value !== 'object' || value === null) return value as Json
  const name = isTopLevel ? undefined : nameBySchema.get(value)
  if (name !== undefined) return reference(name)
  const byMembers = isTopLevel ? null : toMembersReference(value as Members)
  return toKnownValues(value) ?? toEnumReference(value as Members) ?? byMembers ?? toMembers(value as Members)
}

/** The named enum, or another text: aliases and capitals are accepted, too. */
function toKnownValues(value: object): JsonObject | null {
  const { [KNOWN_VALUES]: values } = value as { [KNOWN_VALUES]?: readonly string[] }
  const name = values === undefined ? undefined : nameByValues.get(values.join())
  if (name === undefined) return null
  const { type, minLength, maxLength, ...notes } = value as Members
  return { anyOf: [reference(name), toMembers({ type, minLength, maxLength })], ...toMembers(notes) }
}

function toMembers(value: Members): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toPlainJson(member, false)]))
}

/** `description` and `examples` may stand beside a reference since OpenAPI 3.1. */
function toEnumReference({ enum: values, type, ...notes }: Members): JsonObject | null {
  if (!Array.isArray(values)) return null
  const isNullable = values.includes(null)
  const name = nameByValues.get(values.filter((one) => one !== null).join())
  if (name === undefined) return null
  return { ...(isNullable ? { anyOf: [reference(name), { type: 'null' }] } : reference(name)), ...toMembers(notes) }
}

function toMembersReference({ type, properties, required, ...notes }: Members): JsonObject | null {
  const name = nameByMembers.get(properties)
  if (name === undefined) return null
  return {
    ...(Array.isArray(type) ? { anyOf: [reference(name), { type: 'null' }] } : reference(name)),
    ...toMembers(notes),
  }
}

/** Page and limit are text with a pattern for the server and numbers for everyone else. */
const numberPatterns: Readonly<Record<string, JsonObject>> = {
  [PAGE_PATTERN]: { type: 'integer', minimum: 1, maximum: 999_999_999 },
  [LIMIT_PATTERN]: { type: 'integer', minimum: 1, maximum: 500 },
}

/** The schema of a query parameter, without the notes that belong to the parameter. */
export function toParameterSchema({ description, examples, ...schema }: Members): Json {
  const number = numberPatterns[String(schema['pattern'])]
  const plain = number ?? toPlainJson(schema, true)
  const { default: preset } = schema
  return number !== undefined && preset !== undefined
    ? { ...number, default: Number.parseInt(String(preset), 10) }
    : plain
}

/**
 * A request body: null is accepted for every optional member and counts as its absence. So `dependentRequired`, for which null
 * is a value, stays with the server; the descriptions of the members say the same.
 */
function toBody({ dependentRequired: _, ...schema }: Members): JsonObject {
  const { properties, required } = schema as unknown as {
    properties: Record<string, Members>
    required?: readonly string[]
  }
  const members = Object.entries(properties).map(([name, member]) => [
    name,
    required?.includes(name) ? toPlainJson(member, false) : toNullable(member),
  ])
  return { ...toMembers(schema), properties: Object.fromEntries(members) }
}

function toNullable(member: Members): Json {
  const { type, enum: values } = member
  const nullable = {
    ...member,
    type: [type, 'null'].flat(),
    ...(Array.isArray(values) ? { enum: [...values, null] } : {}),
  }
  return toEnumReference(nullable) ?? toMembers(nullable)
}

const isBody = (name: string): boolean => name.endsWith('Body') && name !== 'ErrorBody'

/** Whose document it is: that of partners in production or in the sandbox, or that of operators. */
type Audience = 'production' | 'sandbox' | 'operators'

/** All named schemas and enums. The schemas of errors are the same for all; the codes that their enum lists are not. */
export function componentSchemas(audience: Audience): JsonObject {
  const named = audience === 'production' ? namedSchemas : { ...namedSchemas, ...sandboxSchemas }
  const schemas = Object.entries(named).map(([name, schema]) => [
    name,
    isBody(name) ? toBody(schema as unknown as Members) : toPlainJson(schema, true),
  ])
  const errorCodes = audience === 'operators' ? errorCodeNames : partnerErrorCodeNames
  const enums = Object.entries(namedEnums).map(([name, { values, description }]) => [
    name,
    { type: 'string', enum: name === 'ErrorCode' ? errorCodes : values, description },
  ])
  return Object.fromEntries([...enums, ...schemas])
}

/** An example of a schema from the examples of its members. Optional members without an example are left out. */
export function exampleOf(schema: unknown): Json {
  const { examples, type, properties, items, enum: values } = schema as Members
  if (Array.isArray(examples) && examples.length > 0) return examples[0] as Json
  if (Array.isArray(values)) return values[0] as Json
  if (type === 'array') return (schema as Members)['maxItems'] === 0 ? [] : [exampleOf(items)]
  if (type !== 'object') return Array.isArray(type) ? null : 'text'
  const { required = [] } = schema as { required?: readonly string[] }
  return Object.fromEntries(
    Object.entries(properties as Record<string, Members>)
      .filter(([name, member]) => required.includes(name) || 'examples' in member)
      .map(([name, member]) => [name, exampleOf(member)]),
  )
}
