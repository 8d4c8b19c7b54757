//! The statements that move a read model's table about. All of them are fixed texts: no name is ever put into SQL at run time.

/// The table of a read model.
#[derive(Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its primary key.
    pub key: &'static str,
    /// Whether an unfinished rebuild lies there.
    pub(crate) rebuild_exists: &'static str,
    /// Makes the rebuild's table like the live one, with the same names of its indexes.
    pub(crate) create_rebuild: &'static str,
    /// Removes an unfinished rebuild.
    pub(crate) drop_rebuild: &'static str,
    /// Removes what the rebuild before replaced.
    pub(crate) drop_old: &'static str,
    /// Moves the live table away.
    pub(crate) retire: &'static str,
    /// Makes the rebuild the live table.
    pub(crate) promote: &'static str,
    /// Makes a table of this session alone, like the live one.
    pub(crate) create_shadow: &'static str,
    /// Live rows after a key, as JSON.
    pub(crate) live_page: &'static str,
    /// Rows of this session's shadow after a key, as JSON.
    pub(crate) shadow_page: &'static str,
}

/// The statements for one table.
macro_rules! table {
    ($name:literal, $key:literal) => {
        $crate::table::Table {
            name: $name,
            key: $key,
            rebuild_exists: concat!("select to_regclass('rebuild.", $name, "') is not null"),
            create_rebuild: concat!(
                "create table rebuild.", $name, " (like read.", $name, " including all);
                 do $body$
                 declare pair record;
                 begin
                     for pair in
                         select made.indexrelid::regclass::text as made, named.relname as wanted
                           from pg_index live
                           join pg_class named on named.oid = live.indexrelid
                           join pg_index made on made.indrelid = 'rebuild.", $name, "'::regclass
                            and regexp_replace(pg_get_indexdef(made.indexrelid), ' INDEX .* USING ', '')
                              = regexp_replace(pg_get_indexdef(live.indexrelid), ' INDEX .* USING ', '')
                           join pg_class made_as on made_as.oid = made.indexrelid and made_as.relname <> named.relname
                          where live.indrelid = 'read.", $name, "'::regclass
                     loop
                         execute format('alter index %s rename to %I', pair.made, pair.wanted);
                     end loop;
                 end
                 $body$"
            ),
            drop_rebuild: concat!("drop table if exists rebuild.", $name),
            drop_old: concat!("drop table if exists old.", $name),
            retire: concat!("alter table read.", $name, " set schema old"),
            promote: concat!("alter table rebuild.", $name, " set schema read"),
            create_shadow: concat!("create temporary table ", $name, " (like read.", $name, " including all)"),
            live_page: concat!(
                "select ", $key, ", to_jsonb(t)::text from read.", $name, " t where ", $key, " > $1 order by ", $key, " limit $2"
            ),
            shadow_page: concat!(
                "select ", $key, ", to_jsonb(t)::text from pg_temp.", $name, " t where ", $key, " > $1 order by ", $key, " limit $2"
            ),
        }
    };
}
pub(crate) use table;
