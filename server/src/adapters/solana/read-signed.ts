import { AppError } from '../../core/domain/errors.ts'
import type { SignedTransaction } from '../../swap/ports/swap-chain.ts'
import { readSwapAction } from './swap-instructions.ts'
import { type DecodedTransaction, decodeTransaction, TRANSACTION_BYTES_MAX } from './transaction.ts'

const invalid = (reason: string): AppError =>
  new AppError('RAW_TX_INVALID', `the signed transaction cannot be used: ${reason}`)

const TEXT_MAX = 4 * Math.ceil(TRANSACTION_BYTES_MAX / 3)

/** Reads base64 of a signed transaction. Throws RAW_TX_INVALID. */
export function readSigned(raw: string): SignedTransaction {
  if (raw.length > TEXT_MAX) throw invalid(`it is longer than ${TRANSACTION_BYTES_MAX} bytes`)
  const bytes = Buffer.from(raw, 'base64')
  if (bytes.length === 0 || bytes.toString('base64') !== raw) throw invalid('it is not base64')
  return toSigned(decode(bytes))
}

function decode(bytes: Buffer): DecodedTransaction {
  let transaction: DecodedTransaction
  try {
    transaction = decodeTransaction(bytes)
  } catch (cause) {
    throw invalid(`it cannot be decoded: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  if (!transaction.hasValidSignatures) throw invalid('a signature is missing or wrong')
  // Whom it pays would not be known before it is sent.
  if (transaction.usesLookupTables) throw invalid('it names accounts by lookup tables')
  return transaction
}

export function toSigned({ hash, signers, keys, blockhash, instructions }: DecodedTransaction): SignedTransaction {
  const [signer = ''] = signers
  return {
    ...{ hash, signer, nonce: null, recentBlock: blockhash },
    targets: keys.filter((key) => key !== signer),
    action: signers.length === 1 ? readSwapAction(signer, instructions) : null,
  }
}
