import { createHash } from 'node:crypto'
import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  createKeyPairSignerFromPrivateKeyBytes,
  createTransactionMessage,
  generateKeyPairSigner,
  getTransactionEncoder,
  type Instruction,
  type KeyPairSigner,
  lamports,
  pipe,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeMint2Instruction,
  getMintToInstruction,
  getSyncNativeInstruction,
} from '@solana-program/token'
import type { Bank } from './bank.ts'
import { type MarketPool, wrappedSol } from './solana-market.ts'
import { swapInstruction, type Trade } from './solana-trader.ts'
import { tokenProgram } from './token-state.ts'
import { decodeWireTransaction } from './wire-transaction.ts'

const mintBytes = 82
const bankLamports = 500_000_000_000_000_000n

/** The bank of the sandbox: real transactions, signed with a key that is public on purpose. */
export async function createBankAccount(bank: Bank) {
  const seed = createHash('sha256').update('swapyard sandbox solana bank').digest()
  const signer: KeyPairSigner = await createKeyPairSignerFromPrivateKeyBytes(seed)
  if (!bank.readAccount(signer.address).exists)
    bank.writeAccount({
      exists: true,
      address: signer.address,
      lamports: lamports(bankLamports),
      data: new Uint8Array(),
      programAddress: '11111111111111111111111111111111' as Address,
      executable: false,
      space: 0n,
    })
  let payments = 0

  async function send(instructions: readonly Instruction[]): Promise<string> {
    const block = bank.blockAt('processed')
    payments += 1
    const computeBudget = limitUnits(200_000 + (payments % 1_000_000))
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (one) => setTransactionMessageFeePayerSigner(signer, one),
      (one) =>
        setTransactionMessageLifetimeUsingBlockhash(
          { blockhash: block.hash as Blockhash, lastValidBlockHeight: BigInt(block.height + 150) },
          one,
        ),
      (one) => appendTransactionMessageInstructions([computeBudget, ...instructions], one),
    )
    const transaction = await signTransactionMessageWithSigners(message)
    const wire = decodeWireTransaction(new Uint8Array(getTransactionEncoder().encode(transaction)))
    bank.enqueue(wire)
    return wire.signature
  }

  const createAccount = prepareAccounts(signer)

  return {
    address: signer.address,
    send,
    trade: (pool: MarketPool, trade: Trade) => tradeInPool({ signer, send, createAccount }, pool, trade),
    deposit: (address: Address, amount: bigint) =>
      send([getTransferSolInstruction({ source: signer, destination: address, amount })]),
    async createMint({
      decimals,
    }: Readonly<{ decimals: number }>): Promise<Readonly<{ mint: Address; signature: string }>> {
      const mint = await generateKeyPairSigner()
      const signature = await send([
        getCreateAccountInstruction({
          payer: signer,
          newAccount: mint,
          lamports: lamports(bank.rentExemption(mintBytes)),
          space: BigInt(mintBytes),
          programAddress: tokenProgram,
        }),
        getInitializeMint2Instruction({ mint: mint.address, decimals, mintAuthority: signer.address }),
      ])
      return { mint: mint.address, signature }
    },
    /** Mints to the owner's associated token account, which it creates if it is missing. */
    async depositToken(mint: Address, owner: Address, amount: bigint): Promise<string> {
      const account = bank.readAccount(mint)
      const program = account.exists ? account.programAddress : tokenProgram
      const { ata, create } = await createAccount(mint, owner, program)
      const config = { programAddress: program }
      return send([create, getMintToInstruction({ mint, token: ata, mintAuthority: signer, amount }, config)])
    },
  }
}

const prepareAccounts =
  (signer: KeyPairSigner) =>
  async (mint: Address, owner: Address, program: Address): Promise<{ ata: Address; create: Instruction }> => {
    const [ata] = await findAssociatedTokenPda({ mint, owner, tokenProgram: program })
    const account = { payer: signer, ata, owner, mint, tokenProgram: program }
    return { ata, create: getCreateAssociatedTokenIdempotentInstruction(account) }
  }

type Trader = Readonly<{
  signer: KeyPairSigner
  send(instructions: readonly Instruction[]): Promise<string>
  createAccount: ReturnType<typeof prepareAccounts>
}>

/** Swaps in a pool, with units that the bank mints or wraps for this. */
async function tradeInPool(
  { signer, send, createAccount }: Trader,
  pool: MarketPool,
  { inputIndex, units }: Trade,
): Promise<string> {
  const [input, output] = inputIndex === 0 ? pool.mints : [pool.mints[1], pool.mints[0]]
  const source = await createAccount(input.address, signer.address, input.program)
  const target = await createAccount(output.address, signer.address, output.program)
  const config = { programAddress: input.program }
  const fund =
    input.address === wrappedSol
      ? [
          getTransferSolInstruction({ source: signer, destination: source.ata, amount: units }),
          getSyncNativeInstruction({ account: source.ata }),
        ]
      : [getMintToInstruction({ mint: input.address, token: source.ata, mintAuthority: signer, amount: units }, config)]
  const swap = await swapInstruction(pool, signer.address, inputIndex, units)
  return send([source.create, target.create, ...fund, swap])
}

/** Equal payments in one block need different signatures: each asks for another limit of compute units. */
function limitUnits(units: number): Instruction {
  const bytes = new Uint8Array(5)
  bytes[0] = 2
  new DataView(bytes.buffer).setUint32(1, units, true)
  return { programAddress: 'ComputeBudget111111111111111111111111111111' as Address, data: bytes }
}
