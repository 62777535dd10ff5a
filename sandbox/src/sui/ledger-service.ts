import { GrpcStatusCode, GrpcTypes } from '@mysten/sui/grpc'
import { isValidTransactionDigest } from '@mysten/sui/utils'
import { type Checkpoint, protocolVersion } from './checkpoints.ts'
import { type FieldMask, maskOfCheckpoint, maskOfObject, maskOfTransaction, readMask } from './field-mask.ts'
import { GrpcError, invalidArgument, notFound } from './grpc-error.ts'
import { type Method, unary } from './grpc-web.ts'
import { renderCheckpoint, renderExecuted, renderObject, renderTimestamp } from './render-messages.ts'
import { requireAddress } from './resolve-transaction.ts'
import type { Chain } from './simulated-chain.ts'

const service = '/sui.rpc.v2.LedgerService'
const objectPaths = 'object_id,version,digest'
const batchMax = 1000
const server = 'swapyard-sui-simulator'

function readObject(
  { ledger }: Chain,
  request: Pick<GrpcTypes.GetObjectRequest, 'objectId' | 'version'>,
  mask: FieldMask<GrpcTypes.Object>,
): GrpcTypes.Object {
  const id = requireAddress(request.objectId, 'object_id')
  const { version } = request
  const object = version === undefined ? ledger.findObject(id) : ledger.findVersion(id, version)
  if (object === undefined)
    throw notFound(version === undefined ? `Object ${id} not found` : `Object ${id} with version ${version} not found`)
  return mask.apply(renderObject(object))
}

function readTransaction(
  { ledger }: Chain,
  digest: string | undefined,
  mask: FieldMask<GrpcTypes.ExecutedTransaction>,
): GrpcTypes.ExecutedTransaction {
  if (digest === undefined) throw invalidArgument('missing digest')
  if (!isValidTransactionDigest(digest)) throw invalidArgument(`invalid digest: ${`${digest}`.slice(0, 80)}`)
  const transaction = ledger.findTransaction(digest)
  if (transaction === undefined) throw notFound(`Transaction ${digest} not found`)
  return mask.apply(renderExecuted(transaction))
}

function requireBatch(count: number): void {
  if (count > batchMax) throw invalidArgument(`number of batch requests exceed limit of ${batchMax}`)
}

/** The value, or the status of the refusal. */
function settle<T>(read: () => T): { value: T } | { error: { code: number; message: string; details: [] } } {
  try {
    return { value: read() }
  } catch (error) {
    if (!(error instanceof GrpcError)) throw error
    return { error: { code: GrpcStatusCode[error.code], message: error.message, details: [] } }
  }
}

function requireCheckpoint(chain: Chain, id: GrpcTypes.GetCheckpointRequest['checkpointId']): Checkpoint {
  if (id.oneofKind === undefined) return chain.log.readTip()
  const by = id.oneofKind === 'sequenceNumber' ? id.sequenceNumber : id.digest
  const checkpoint = chain.log.findCheckpoint(by)
  if (checkpoint === undefined) throw notFound(`Checkpoint ${by} not found`)
  return checkpoint
}

function renderEpoch(chain: Chain, requested: bigint | undefined): GrpcTypes.Epoch {
  const current = chain.log.readEpoch()
  const { referenceGasPrice } = chain.readState()
  const number = requested ?? current.number
  const ended = chain.log.findEndedEpoch(number)
  const epoch = number === current.number ? current : ended
  if (epoch === undefined) throw notFound(`Epoch ${number} not found`)
  return {
    ...{
      epoch: number,
      firstCheckpoint: epoch.firstCheckpoint,
      start: renderTimestamp(epoch.startMs),
      referenceGasPrice,
    },
    ...(ended === undefined ? {} : { lastCheckpoint: ended.lastCheckpoint, end: renderTimestamp(ended.endMs) }),
    systemState: {
      ...{ version: 2n, epoch: number, protocolVersion, referenceGasPrice, safeMode: false },
      ...{ epochStartTimestampMs: BigInt(epoch.startMs), validatorReportRecords: [] },
    },
    protocolConfig: { protocolVersion, featureFlags: {}, attributes: {}, configs: {} },
  }
}

function renderService(chain: Chain): GrpcTypes.GetServiceInfoResponse {
  const tip = chain.log.readTip()
  return {
    ...{ chainId: chain.readState().chainId, chain: 'unknown', epoch: chain.log.readEpoch().number },
    ...{ checkpointHeight: tip.sequence, timestamp: renderTimestamp(tip.timestampMs) },
    ...{ lowestAvailableCheckpoint: chain.log.readFirst(), lowestAvailableCheckpointObjects: 0n, server },
  }
}

export const ledgerMethods = (chain: Chain): Method[] => [
  unary(`${service}/GetServiceInfo`, GrpcTypes.GetServiceInfoRequest, GrpcTypes.GetServiceInfoResponse, () =>
    renderService(chain),
  ),
  unary(`${service}/GetObject`, GrpcTypes.GetObjectRequest, GrpcTypes.GetObjectResponse, (request) => ({
    object: readObject(chain, request, maskOfObject(request.readMask, objectPaths)),
  })),
  unary(`${service}/BatchGetObjects`, GrpcTypes.BatchGetObjectsRequest, GrpcTypes.BatchGetObjectsResponse, (batch) => {
    requireBatch(batch.requests.length)
    const mask = maskOfObject(batch.readMask, objectPaths)
    const objects = batch.requests.map((request): GrpcTypes.GetObjectResult => {
      const found = settle(() => readObject(chain, request, mask))
      return 'value' in found
        ? { result: { oneofKind: 'object', object: found.value } }
        : { result: { oneofKind: 'error', error: found.error } }
    })
    return { objects }
  }),
  unary(`${service}/GetTransaction`, GrpcTypes.GetTransactionRequest, GrpcTypes.GetTransactionResponse, (request) => ({
    transaction: readTransaction(chain, request.digest, maskOfTransaction(request.readMask, 'digest')),
  })),
  unary(
    `${service}/BatchGetTransactions`,
    GrpcTypes.BatchGetTransactionsRequest,
    GrpcTypes.BatchGetTransactionsResponse,
    (batch) => {
      requireBatch(batch.digests.length)
      const mask = maskOfTransaction(batch.readMask, 'digest')
      const transactions = batch.digests.map((digest): GrpcTypes.GetTransactionResult => {
        const found = settle(() => readTransaction(chain, digest, mask))
        return 'value' in found
          ? { result: { oneofKind: 'transaction', transaction: found.value } }
          : { result: { oneofKind: 'error', error: found.error } }
      })
      return { transactions }
    },
  ),
  unary(`${service}/GetCheckpoint`, GrpcTypes.GetCheckpointRequest, GrpcTypes.GetCheckpointResponse, (request) => ({
    checkpoint: maskOfCheckpoint(request.readMask).apply(
      renderCheckpoint(requireCheckpoint(chain, request.checkpointId)),
    ),
  })),
  unary(`${service}/GetEpoch`, GrpcTypes.GetEpochRequest, GrpcTypes.GetEpochResponse, (request) => ({
    epoch: readMask<GrpcTypes.Epoch>(
      GrpcTypes.Epoch,
      request.readMask,
      'epoch,first_checkpoint,last_checkpoint,start,end,reference_gas_price,protocol_config.protocol_version',
    ).apply(renderEpoch(chain, request.epoch)),
  })),
]
