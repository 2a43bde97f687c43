import fc from 'fast-check'

/** What gates a change is the same for all who run it; other seeds are for runs by hand. fast-check prints it on failure. */
fc.configureGlobal({ seed: Number(process.env.MIRRORPID_SEED ?? 20261201) })
