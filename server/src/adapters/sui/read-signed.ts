import { bcs } from '@mysten/sui/bcs'
import { TransactionDataBuilder } from '@mysten/sui/transactions'
import { fromBase64, toBase64 } from '@mysten/sui/utils'
import { isValidTransactionSignature } from '@mysten/sui/verify'
import { AppError } from '../../core/domain/errors.ts'
import type { SignedTransaction } from '../../swap/ports/swap-chain.ts'
import { type SuiNode, statusOf } from './node.ts'
import { readSwapAction, readTargets, type SuiTransaction } from './read-swap.ts'

/** The bytes of a transaction and its signatures. */
export type SignedBytes = Readonly<{ bytes: Uint8Array; data: SuiTransaction; signatures: readonly Uint8Array[] }>

const BYTES_MAX = 128 * 1024
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

const invalid = (problem: string): AppError =>
  new AppError('RAW_TX_INVALID', `the signed transaction cannot be used: ${problem}`)

function decode(text: unknown): Uint8Array {
  if (typeof text !== 'string' || !BASE64.test(text) || text.length > 2 * BYTES_MAX) throw invalid('it is not base64')
  return fromBase64(text)
}

/** Null unless the bytes are exactly one transaction, of the version and the kinds that the SDK knows. */
function readData(bytes: Uint8Array): SuiTransaction | null {
  try {
    const parsed = bcs.TransactionData.parse(bytes)
    const again = bcs.TransactionData.serialize(parsed).toBytes()
    return Buffer.compare(again, bytes) === 0 ? (parsed.V1 ?? null) : null
  } catch {
    // Not BCS of a transaction.
    return null
  }
}

function parseData(bytes: Uint8Array): SuiTransaction {
  const data = readData(bytes)
  if (data === null) throw invalid('it is not a transaction')
  return data
}

/** What `signTransaction` of the SDKs returns, as JSON: the transaction and its signature, both in base64. */
function parsePair(raw: string): SignedBytes {
  let pair: { bytes?: unknown; signature?: unknown }
  try {
    pair = JSON.parse(raw) as typeof pair
  } catch {
    throw invalid('it is neither base64 nor JSON')
  }
  const bytes = decode(pair?.bytes)
  return { bytes, data: parseData(bytes), signatures: [decode(pair.signature)] }
}

/** BCS of SenderSignedData in base64, as Sui's command line writes it. */
function parseCombined(raw: string): SignedBytes {
  const combined = decode(raw)
  let entries: typeof bcs.SenderSignedData.$inferType
  try {
    entries = bcs.SenderSignedData.parse(combined)
  } catch {
    throw invalid('it is not signed data of Sui')
  }
  const [entry] = entries
  const { scope, version, appId } = entry?.intentMessage.intent ?? {}
  const isTransaction = scope?.TransactionData !== undefined && version?.V0 !== undefined && appId?.Sui !== undefined
  if (entries.length !== 1 || entry === undefined || !isTransaction) throw invalid('it is not one transaction of Sui')
  const bytes = bcs.TransactionData.serialize(entry.intentMessage.value).toBytes()
  return { bytes, data: parseData(bytes), signatures: entry.txSignatures.map((text) => decode(text)) }
}

/** Does not check the signatures. */
export const parseSigned = (raw: string): SignedBytes => (raw.startsWith('{') ? parsePair(raw) : parseCombined(raw))

/** A transaction that a node has executed, or whose signatures were checked. */
export function describe({ bytes, data }: Pick<SignedBytes, 'bytes' | 'data'>): SignedTransaction {
  // The gas coin pays the input of a swap: another account that pays for the gas would pay that, too.
  const isSponsored = data.gasData.owner !== data.sender
  return {
    ...{ hash: TransactionDataBuilder.getDigestFromBytes(bytes), signer: data.sender, nonce: null },
    ...{ targets: readTargets(data), recentBlock: null, action: isSponsored ? null : readSwapAction(data) },
  }
}

export const describeExecuted = (bytes: Uint8Array): SignedTransaction => describe({ bytes, data: parseData(bytes) })

/** Null for bytes that we do not read, such as a later version of transactions: we did not build them. */
export function describeReadable(bytes: Uint8Array): SignedTransaction | null {
  const data = readData(bytes)
  return data === null ? null : describe({ bytes, data })
}

/** The flag of zkLogin, the only scheme whose check asks a node. */
const ZK_LOGIN = 5

async function isSignedBy(
  address: string,
  bytes: Uint8Array,
  signature: Uint8Array,
  client: SuiNode['client'],
): Promise<boolean> {
  try {
    return await isValidTransactionSignature(bytes, toBase64(signature), { client, address })
  } catch (cause) {
    if (signature[0] !== ZK_LOGIN) return false
    if (statusOf(cause) === 'UNIMPLEMENTED') throw invalid('no node of this network checks zkLogin signatures')
    throw new AppError('NETWORK_UNAVAILABLE', 'no node can check the signature at the moment', { cause })
  }
}

/** Checks the signature, of any scheme, of the sender, who also pays for the gas. Only zkLogin asks a node. */
export async function readSigned(raw: string, { client }: Pick<SuiNode, 'client'>): Promise<SignedTransaction> {
  const { bytes, data, signatures } = parseSigned(raw)
  const [signature] = signatures
  if (data.gasData.owner !== data.sender) throw invalid('another account pays for its gas')
  if (signature === undefined || signatures.length !== 1) throw invalid('it needs exactly one signature')
  if (!(await isSignedBy(data.sender, bytes, signature, client)))
    throw invalid('its signature is not that of the sender')
  return describe({ bytes, data })
}
