import { SuiGrpcClient } from '@mysten/sui/grpc'
import { Ed25519Keypair } from '@mysten/sui/keypairs/ed25519'
import { Transaction } from '@mysten/sui/transactions'
import { fromBase64 } from '@mysten/sui/utils'

/** A new key, which signs as wallets do. */
export function createSuiUser() {
  const keypair = Ed25519Keypair.generate()
  return {
    address: keypair.toSuiAddress(),
    /** Base64 of a transaction to what the SDK returns, as JSON. */
    sign: async (unsigned: string): Promise<string> =>
      JSON.stringify(await keypair.signTransaction(fromBase64(unsigned))),
    fail: (url: string) => failOnSui(url, keypair),
  }
}

/** Executes a transaction that splits more off its first coin than that holds. Returns the digest. */
async function failOnSui(url: string, keypair: Ed25519Keypair): Promise<string> {
  const client = new SuiGrpcClient({ network: 'localnet', baseUrl: url })
  const address = keypair.toSuiAddress()
  const { objects } = await client.listCoins({ owner: address, coinType: '0x2::sui::SUI' })
  const transaction = new Transaction()
  transaction.setSender(address)
  transaction.setGasBudget(10_000_000n)
  // With all of its data it is not simulated, which would refuse it.
  transaction.setGasPrice(1_000n)
  transaction.setGasPayment(objects.map(({ objectId, version, digest }) => ({ objectId, version, digest })))
  transaction.transferObjects([transaction.splitCoins(transaction.gas, [10n ** 18n])], address)
  const { FailedTransaction: failed } = await client.signAndExecuteTransaction({ transaction, signer: keypair })
  if (failed === undefined) throw new Error('the transaction did not fail')
  return failed.digest
}

/** Reads of a node by the client of the SDK. */
export function createSuiReads(url: string) {
  const client = new SuiGrpcClient({ network: 'localnet', baseUrl: url })
  return {
    async readBalance(owner: string, coinType: string): Promise<bigint> {
      return BigInt((await client.getBalance({ owner, coinType })).balance.balance)
    },
    async readTransaction(digest: string) {
      const paths = ['transaction.kind', 'effects.gas_used', 'checkpoint', 'balance_changes']
      const { response } = await client.ledgerService.getTransaction({ digest, readMask: { paths } })
      const { checkpoint, effects, transaction, balanceChanges = [] } = response.transaction ?? {}
      const { computationCost = 0n, storageCost = 0n, storageRebate = 0n } = effects?.gasUsed ?? {}
      const kind = transaction?.kind?.data
      return {
        ...{ checkpoint, balanceChanges, fee: computationCost + storageCost - storageRebate },
        commands: kind?.oneofKind === 'programmableTransaction' ? kind.programmableTransaction.commands : [],
      }
    },
  }
}
