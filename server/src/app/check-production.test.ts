import { expect, test } from 'vitest'
import { createLog } from '../lib/log.ts'
import { reportChecksums } from './check-production.ts'

const silent = createLog({ level: 'silent', pretty: false })

/** What a start reports about a cluster whose `data_checksums` has the value. */
async function report(checksums: string) {
  const reported: string[] = []
  const sql = { query: async () => [{ checksums }] as never[] }
  const alarms = {
    raise: async (subject: string) => void reported.push(`raise ${subject}`),
    clear: async (subject = '') => void reported.push(`clear ${subject}`),
  }
  await reportChecksums(sql, alarms, { ...silent, warn: (_, message) => void reported.push(`warn: ${message}`) })
  return reported
}

test('warns of a cluster without data checksums, and clears the alarm of one with them', async () => {
  expect(await report('off')).toEqual([
    'warn: the database has no data checksums: a corrupted page of the disk is read as if it were correct',
    'raise checksums:database',
  ])
  expect(await report('on')).toEqual(['clear checksums:database'])
})
