export type ScreeningSubject = Readonly<{ network: string; address: string; direction: 'recipient' | 'refund' | 'sender' }>
export type Verdict = 'allow' | 'review' | 'block'

/** Asked before an address is accepted, before a credit, and before money leaves. A timeout is `review`. */
export interface Screening {
  screen(subject: ScreeningSubject): Promise<Verdict>
}
