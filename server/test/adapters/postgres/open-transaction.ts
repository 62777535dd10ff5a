import { expect } from 'vitest'
import type { Database, Sql } from '../../../src/adapters/postgres/core/database.ts'

export type OpenTransaction = Readonly<{ sql: Sql; end(commits: boolean): Promise<void> }>

/** A transaction that stays open until `end` is called. */
export async function openTransaction(database: Database): Promise<OpenTransaction> {
  const ends = Promise.withResolvers<boolean>()
  const begun = Promise.withResolvers<Sql>()
  const ended = database
    .transaction(async (tx) => {
      begun.resolve(tx)
      if (!(await ends.promise)) throw new Error('rolled back')
    })
    .catch((error: Error) => expect(error.message).toBe('rolled back'))
  const sql = await begun.promise
  const end = async (commits: boolean) => {
    ends.resolve(commits)
    await ended
  }
  return { sql, end }
}
