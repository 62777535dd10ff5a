import { GrpcTypes } from '@mysten/sui/grpc'
import { canonicalType } from './canonical-type.ts'
import { listDynamicFields } from './dynamic-fields.ts'
import { maskOfObject, readMask } from './field-mask.ts'
import { invalidArgument, notFound } from './grpc-error.ts'
import { type Method, unary } from './grpc-web.ts'
import type { Balance } from './ledger.ts'
import { pageOf } from './page.ts'
import { requireField } from './parse-grpc-transaction.ts'
import { renderObject } from './render-messages.ts'
import { requireAddress } from './resolve-transaction.ts'
import type { Chain } from './simulated-chain.ts'
import { coinTypeArgument, readCoinBalance, type SuiObject } from './sui-object.ts'

const service = '/sui.rpc.v2.StateService'

function requireType(text: string | undefined, field: string): string {
  const type = requireField(text, field)
  try {
    return canonicalType(type)
  } catch {
    throw invalidArgument(`invalid ${field}: ${type.slice(0, 80)}`)
  }
}

/** A type without arguments matches all its instances. */
const matchesType = (type: string, filter: string | null): boolean =>
  filter === null || type === filter || (!filter.includes('<') && type.startsWith(`${filter}<`))

/** By type, coins with the largest balance first, then by id. */
function compareObjects(a: SuiObject, b: SuiObject): number {
  if (a.type !== b.type) return a.type < b.type ? -1 : 1
  const isCoin = coinTypeArgument(a.type) !== null
  const [x, y] = isCoin ? [readCoinBalance(a.contents), readCoinBalance(b.contents)] : [0n, 0n]
  if (x !== y) return x > y ? -1 : 1
  return a.id < b.id ? -1 : 1
}

function listOwned({ ledger }: Chain, request: GrpcTypes.ListOwnedObjectsRequest): GrpcTypes.ListOwnedObjectsResponse {
  const address = requireAddress(request.owner, 'owner')
  const mask = maskOfObject(request.readMask, 'object_id,version,object_type')
  const filter = request.objectType === undefined ? null : requireType(request.objectType, 'object_type')
  const objects = ledger
    .listObjects(
      ({ owner, type }) => owner.kind === 'address' && owner.address === address && matchesType(type, filter),
    )
    .sort(compareObjects)
  const { page, ...next } = pageOf(objects, ({ id }) => id, request)
  return { objects: page.map((object) => mask.apply(renderObject(object))), ...next }
}

const renderBalance = ({ coinType, inCoins, inAddress }: Balance): GrpcTypes.Balance => ({
  ...{ coinType, balance: inCoins + inAddress, addressBalance: inAddress, coinBalance: inCoins },
})

function readBalance({ ledger }: Chain, request: GrpcTypes.GetBalanceRequest): GrpcTypes.GetBalanceResponse {
  const owner = requireAddress(request.owner, 'owner')
  const coinType = requireType(request.coinType, 'coin_type')
  const found = ledger.listBalances(owner).find((balance) => balance.coinType === coinType)
  return { balance: renderBalance(found ?? { coinType, inCoins: 0n, inAddress: 0n }) }
}

function listBalances({ ledger }: Chain, request: GrpcTypes.ListBalancesRequest): GrpcTypes.ListBalancesResponse {
  const balances = ledger.listBalances(requireAddress(request.owner, 'owner'))
  const { page, ...next } = pageOf(balances, ({ coinType }) => coinType, request)
  return { balances: page.map(renderBalance), ...next }
}

function readCoinInfo({ ledger }: Chain, request: GrpcTypes.GetCoinInfoRequest): GrpcTypes.GetCoinInfoResponse {
  const coinType = requireType(request.coinType, 'coin_type')
  const known = ledger.coinMetadata.get(coinType)
  if (known === undefined) throw notFound(`Coin type ${coinType} not found`)
  const { iconUrl, ...metadata } = known
  return {
    coinType,
    metadata: { ...metadata, ...(iconUrl === null ? {} : { iconUrl }) },
    treasury: { totalSupply: ledger.readSupply(coinType) },
  }
}

function listFields(
  { ledger }: Chain,
  request: GrpcTypes.ListDynamicFieldsRequest,
): GrpcTypes.ListDynamicFieldsResponse {
  const parent = requireAddress(request.parent, 'parent')
  const mask = readMask<GrpcTypes.DynamicField>(GrpcTypes.DynamicField, request.readMask, 'parent,field_id')
  const { page, ...next } = pageOf(listDynamicFields(ledger, parent), ({ fieldId = '' }) => fieldId, request)
  return { dynamicFields: page.map((field) => mask.apply(field)), ...next }
}

export const stateMethods = (chain: Chain): Method[] => [
  unary(
    `${service}/ListOwnedObjects`,
    GrpcTypes.ListOwnedObjectsRequest,
    GrpcTypes.ListOwnedObjectsResponse,
    (request) => listOwned(chain, request),
  ),
  unary(`${service}/GetBalance`, GrpcTypes.GetBalanceRequest, GrpcTypes.GetBalanceResponse, (request) =>
    readBalance(chain, request),
  ),
  unary(`${service}/ListBalances`, GrpcTypes.ListBalancesRequest, GrpcTypes.ListBalancesResponse, (request) =>
    listBalances(chain, request),
  ),
  unary(`${service}/GetCoinInfo`, GrpcTypes.GetCoinInfoRequest, GrpcTypes.GetCoinInfoResponse, (request) =>
    readCoinInfo(chain, request),
  ),
  unary(
    `${service}/ListDynamicFields`,
    GrpcTypes.ListDynamicFieldsRequest,
    GrpcTypes.ListDynamicFieldsResponse,
    (request) => listFields(chain, request),
  ),
]
