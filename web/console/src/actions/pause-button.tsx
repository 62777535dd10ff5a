import { ActionButton } from './action-button.tsx'

type Props = Readonly<{
  scope: string
  isPaused: boolean
  /** What is paused, in the text of the button. */
  what?: string
}>

/** Begins the pause of a scope, or ends it. */
export function PauseButton({ scope, isPaused, what }: Props) {
  const verb = isPaused ? 'End the pause' : 'Pause'
  const ofWhat = isPaused ? ` of ${what}` : ` ${what}`
  return (
    <ActionButton
      action={isPaused ? 'pauses-end' : 'pauses-begin'}
      label={what === undefined ? verb : `${verb}${ofWhat}`}
      given={{ scope }}
    />
  )
}
