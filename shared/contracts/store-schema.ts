/** The schema of the embedded store's file, its `user_version`: how many steps its migrations have. */
export const STORE_SCHEMA = 7

/** "AsMe", in the header of every database of ours. */
export const STORE_APPLICATION_ID = 0x4173_4d65
