//! Maps enums to TEXT columns of Postgres, for the store. Without the feature `sqlx`, the macro
//! does nothing.

/// Lets a database driver read and write the enum by its name. An unknown name is an
/// [`Invalid`](crate::Invalid) inside the driver's error.
#[cfg(feature = "sqlx")]
#[macro_export]
macro_rules! text_column {
    ($name:ident) => {
        impl $crate::sqlx::Type<$crate::sqlx::Postgres> for $name {
            fn type_info() -> $crate::sqlx::postgres::PgTypeInfo {
                <&str as $crate::sqlx::Type<$crate::sqlx::Postgres>>::type_info()
            }

            fn compatible(column: &$crate::sqlx::postgres::PgTypeInfo) -> bool {
                <&str as $crate::sqlx::Type<$crate::sqlx::Postgres>>::compatible(column)
            }
        }

        impl $crate::sqlx::postgres::PgHasArrayType for $name {
            fn array_type_info() -> $crate::sqlx::postgres::PgTypeInfo {
                <&str as $crate::sqlx::postgres::PgHasArrayType>::array_type_info()
            }
        }

        impl $crate::sqlx::Encode<'_, $crate::sqlx::Postgres> for $name {
            fn encode_by_ref(
                &self,
                buffer: &mut $crate::sqlx::postgres::PgArgumentBuffer,
            ) -> ::std::result::Result<
                $crate::sqlx::encode::IsNull,
                $crate::sqlx::error::BoxDynError,
            > {
                <&str as $crate::sqlx::Encode<$crate::sqlx::Postgres>>::encode(
                    self.as_str(),
                    buffer,
                )
            }
        }

        impl<'r> $crate::sqlx::Decode<'r, $crate::sqlx::Postgres> for $name {
            fn decode(
                value: $crate::sqlx::postgres::PgValueRef<'r>,
            ) -> ::std::result::Result<Self, $crate::sqlx::error::BoxDynError> {
                Ok(<&str as $crate::sqlx::Decode<$crate::sqlx::Postgres>>::decode(value)?.parse()?)
            }
        }
    };
}

#[cfg(not(feature = "sqlx"))]
#[macro_export]
macro_rules! text_column {
    ($name:ident) => {};
}
